import { mkdir, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { didYouMean } from "../../config/did-you-mean.js";
import { withFileLock } from "../../config/lock.js";
import type { EnvironmentVariables } from "../../config/paths.js";
import { ToolError } from "../../tool/errors.js";
import type {
  ChangedSkill,
  SkillChange,
  SkillContent,
  SkillSummary,
  SkillsHost,
} from "../../tool/host-capabilities.js";
import { changeDraft } from "./drafts.js";
import { DRAFTS, findDrafts, findSkills, type Skill } from "./find-skills.js";
import { SkillRegister } from "./register.js";
import { inspectSkill, readSkillFiles, SKILL_FILE, textIn, writeSkillFiles } from "./skill-files.js";
import { isProblem, isSkillName } from "./skill-text.js";

/** The skills of a Hermes home. Nothing is kept in between: people edit the files whenever they like. */
export class Skills implements SkillsHost {
  readonly #folder: string;
  readonly #env: EnvironmentVariables;
  readonly #register: SkillRegister;

  constructor(options: { readonly folder: string; readonly env: EnvironmentVariables }) {
    this.#folder = options.folder;
    this.#env = options.env;
    this.#register = new SkillRegister(options.folder);
  }

  /** Also those that cannot be used, for the person. */
  async all(): Promise<readonly Skill[]> {
    return [...(await this.#skills()), ...(await findDrafts(this.#folder))];
  }

  async list(): Promise<readonly SkillSummary[]> {
    return (await this.all()).flatMap(({ name, category, description, state }) =>
      state === "ready" || state === "draft" ? [{ name, category, description, state }] : [],
    );
  }

  async view(name: string, file?: string): Promise<SkillContent> {
    const skill = await this.#usable(name);
    const { category, description, state, files, path, requiredVariables } = skill;
    const wanted = file ?? SKILL_FILE;
    const bytes = files.get(wanted);
    const others = [...files.keys()].filter((one) => one !== SKILL_FILE);
    if (bytes === undefined)
      throw new ToolError(`The skill ${name} has no file ${JSON.stringify(wanted)}.`, {
        code: "not_found",
        hint: others.length === 0 ? "It has only its SKILL.md." : `It has: ${others.join(", ")}.`,
      });
    const content = textIn(bytes);
    if (content === undefined)
      throw new ToolError(`${wanted} is no text.`, {
        hint: `It lies at ${join(path, wanted)}, for tools that take such files.`,
      });
    if (file === undefined && state === "ready") await this.#countUse(skill);
    return {
      name,
      category,
      description,
      state: state === "draft" ? "draft" : "ready",
      content,
      files: others,
      path,
      missingVariables: requiredVariables.filter((variable) => (this.#env[variable] ?? "") === ""),
    };
  }

  change(change: SkillChange): Promise<ChangedSkill> {
    return this.#alone(async () =>
      changeDraft(change, {
        folder: this.#folder,
        skills: await this.#skills(),
        drafts: await findDrafts(this.#folder),
      }),
    );
  }

  /**
   * A person's yes to a draft, or to a skill as it is now: from here on its files are used, and no others. What is
   * suspicious needs `anyway`.
   */
  accept(name: string, options: { readonly anyway?: boolean } = {}): Promise<Skill> {
    return this.#alone(async () => {
      const skills = await this.#skills();
      const inUse = skills.find((one) => one.name === name);
      const draft = (await findDrafts(this.#folder)).find((one) => one.name === name);
      const skill = draft ?? inUse;
      if (skill === undefined) throw await this.#unknown(name);
      if (skill.state === "invalid") throw unusable(skill);
      if (skill.threat !== undefined && options.anyway !== true)
        throw new ToolError(`${name} is suspicious: ${skill.threat}.`, {
          code: "blocked",
          hint: `Read ${skill.path}. If it is what you want: hermes skills accept ${name} --anyway`,
        });
      if (draft !== undefined) {
        if (inUse !== undefined && inUse.author !== "agent")
          throw new ToolError(`${name} is in use already, and it was not written by an agent.`, {
            code: "denied",
            hint: `Remove one of them first: hermes skills reject ${name}, or hermes skills remove ${name}.`,
          });
        const target = inUse?.path ?? join(this.#folder, draft.category ?? "", name);
        await mkdir(dirname(target), { recursive: true, mode: 0o700 });
        // Before the files: what an agent wrote must never count as a person's.
        await this.#pin(skill, "agent");
        await writeSkillFiles(target, draft.files);
        await rm(draft.path, { recursive: true, force: true });
      } else await this.#pin(skill, skill.state === "changed" ? "person" : skill.author);
      return this.#find(name);
    });
  }

  /** A person's no to a draft. */
  reject(name: string): Promise<Skill> {
    return this.#alone(async () => {
      const draft = (await findDrafts(this.#folder)).find((one) => one.name === name);
      if (draft === undefined)
        throw new ToolError(`There is no draft ${name}.`, { code: "not_found", hint: "hermes skills list" });
      await rm(draft.path, { recursive: true, force: true });
      return draft;
    });
  }

  /** Deletes a skill with its files. */
  remove(name: string): Promise<Skill> {
    return this.#alone(async () => {
      const skill = await this.#find(name);
      await rm(skill.path, { recursive: true, force: true });
      await this.#register.change(name, () => undefined);
      return skill;
    });
  }

  /** Takes in a folder that others wrote: looked through, and used as it is now or not at all. */
  install(
    source: string,
    options: {
      /** Left out: that of its folder. */
      readonly name?: string;
      readonly category?: string | undefined;
      readonly anyway?: boolean;
    } = {},
  ): Promise<Skill> {
    const { name = basename(resolve(source)), category, anyway } = options;
    return this.#alone(async () => {
      const refused = (why: string) =>
        new ToolError(`${source} cannot be installed: ${why}.`, { code: "invalid_arguments" });
      const files = await readSkillFiles(source);
      if (isProblem(files)) throw refused(files.problem);
      const read = await inspectSkill(files, name);
      if (isProblem(read)) throw refused(read.problem);
      if (category !== undefined && !isSkillName(category))
        throw refused("a category is 1 to 64 of a-z, 0-9, - and _");
      if ((await this.#skills()).some((one) => one.name === name))
        throw new ToolError(`There is a skill ${name} already.`, {
          code: "invalid_arguments",
          hint: `hermes skills remove ${name}`,
        });
      if (read.threat !== undefined && anyway !== true)
        throw new ToolError(`${name} is suspicious: ${read.threat}.`, {
          code: "blocked",
          hint: `Read ${source}. If it is what you want, add --anyway.`,
        });
      const path = join(this.#folder, category ?? "", name);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await this.#pin({ name, hash: read.hash, threat: read.threat }, "installed");
      await writeSkillFiles(path, files);
      return this.#find(name);
    });
  }

  async #skills(): Promise<readonly Skill[]> {
    return findSkills(this.#folder, await this.#register.read());
  }

  async #find(name: string): Promise<Skill> {
    const skill = (await this.#skills()).find((one) => one.name === name);
    if (skill === undefined) throw await this.#unknown(name);
    return skill;
  }

  /** One that may be read: in use, else a draft. */
  async #usable(name: string): Promise<Skill> {
    const named = (await this.all()).filter((skill) => skill.name === name);
    const skill =
      named.find(({ state }) => state === "ready") ?? named.find(({ state }) => state === "draft");
    if (skill !== undefined) return skill;
    const [other] = named;
    throw other === undefined ? await this.#unknown(name) : unusable(other);
  }

  async #unknown(name: string): Promise<ToolError> {
    const names = (await this.all()).map((skill) => skill.name);
    const hint = didYouMean(name, names) ?? "skills_list shows those there are.";
    return new ToolError(`There is no skill ${JSON.stringify(name)}.`, { code: "not_found", hint });
  }

  #pin(
    { name, hash, threat }: Pick<Skill, "name" | "hash" | "threat">,
    author: Skill["author"],
  ): Promise<void> {
    return this.#register.change(name, (record) => ({
      uses: 0,
      ...record,
      author,
      sha256: hash,
      despite: threat,
      acceptedAt: Date.now(),
    }));
  }

  #countUse({ name, author }: Skill): Promise<void> {
    return this.#register.change(name, (record) => ({
      ...(record ?? { author }),
      uses: (record?.uses ?? 0) + 1,
      lastUsedAt: Date.now(),
    }));
  }

  /** Writers of all processes take turns. */
  async #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const outcome = await withFileLock(join(this.#folder, DRAFTS), async () => ({ done: await work() }));
    if ("code" in outcome) throw new ToolError(outcome.message, { code: outcome.code, hint: outcome.hint });
    return outcome.done;
  }
}

function unusable({ name, reason, state }: Skill): ToolError {
  return new ToolError(`The skill ${name} is not used: ${reason}.`, {
    code: "unavailable",
    hint:
      state === "invalid"
        ? "The person has to mend its SKILL.md."
        : `A person has to look at it: hermes skills show ${name}, then hermes skills accept ${name}`,
  });
}
