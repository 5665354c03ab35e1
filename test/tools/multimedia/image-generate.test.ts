import { readFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { tempDir } from "../../support/runtime.js";
import { json, startSite } from "../network/site.js";
import { caller } from "./caller.js";

const PICTURE = await sharp({ create: { width: 8, height: 8, channels: 3, background: "#336699" } })
  .png()
  .toBuffer();
const settings = (provider: string, base: string) => ({
  "image_gen.provider": provider,
  "image_gen.base_url": base,
});

describe("image_generate", () => {
  it("OpenAI images (platform.openai.com/docs/api-reference/images/create)", async () => {
    let key: string | undefined;
    const site = await startSite({
      "/v1/images/generations": (request, response) => {
        key = request.headers.authorization;
        response.end(JSON.stringify({ created: 1, data: [{ b64_json: PICTURE.toString("base64") }] }));
      },
    });
    const { call, path } = await caller({
      flags: settings("openai", `${site.base}/v1`),
      env: { OPENAI_API_KEY: "sk-test-123456" },
    });
    const result = await call("image_generate", {
      prompt: "A fox",
      aspect_ratio: "portrait",
      output: "fox.png",
    });
    expect(result.structured).toMatchObject({
      success: true,
      image: path("fox.png"),
      path: path("fox.png"),
      format: "png",
      provider: "openai",
    });
    expect(readFileSync(path("fox.png"))).toEqual(PICTURE);
    expect(key).toBe("Bearer sk-test-123456");
    expect(JSON.parse(site.bodies[0] ?? "")).toEqual({
      model: "gpt-image-1",
      prompt: "A fox",
      n: 1,
      size: "1024x1536",
    });
    expect(JSON.stringify(result)).not.toContain("sk-test-123456");
  });

  it("without a name for it, the picture is kept in the cache", async () => {
    const site = await startSite({
      "/sdapi/v1/txt2img": json({ images: [PICTURE.toString("base64")], parameters: {}, info: "" }),
    });
    const { call } = await caller({ flags: settings("sdwebui", site.base) });
    const result = await call("image_generate", { prompt: "A fox" });
    const { path } = result.structured as { path: string };
    expect(readFileSync(path)).toEqual(PICTURE);
    expect(JSON.parse(site.bodies[0] ?? "")).toMatchObject({ prompt: "A fox", width: 1216, height: 832 });
  });

  it("ComfyUI (docs.comfy.org/development/comfyui-server/comms_routes)", async () => {
    let asked = 0;
    const history = {
      "job-1": {
        outputs: { "9": { images: [{ filename: "hermes_1.png", subfolder: "", type: "output" }] } },
      },
    };
    const site = await startSite({
      "/object_info/CheckpointLoaderSimple": json({
        CheckpointLoaderSimple: { input: { required: { ckpt_name: [["base.safetensors"], {}] } } },
      }),
      "/prompt": json({ prompt_id: "job-1", number: 1, node_errors: {} }),
      "/history/job-1": (_request, response) => {
        asked += 1;
        response.end(JSON.stringify(asked < 2 ? {} : history));
      },
      "/view": (_request, response) => void response.end(PICTURE),
    });
    const { call, path } = await caller({ flags: settings("comfyui", site.base) });
    const result = await call("image_generate", {
      prompt: "A fox",
      aspect_ratio: "square",
      output: "fox.png",
    });
    expect(result.structured).toMatchObject({
      provider: "comfyui",
      model: "base.safetensors",
      job_id: "job-1",
    });
    expect(readFileSync(path("fox.png"))).toEqual(PICTURE);
    expect(site.seen.at(-1)).toBe("GET /view?filename=hermes_1.png&subfolder=&type=output");
    const graph = JSON.parse(site.bodies[1] ?? "").prompt as Record<
      string,
      { class_type: string; inputs: unknown }
    >;
    expect(graph["6"]?.inputs).toMatchObject({ text: "A fox" });
    expect(graph["5"]?.inputs).toMatchObject({ width: 1024, height: 1024 });
  });

  /** docs.fal.ai/model-apis/model-endpoints/queue */
  async function falServer(state: { status: string }) {
    const site = await startSite({
      "/fal-ai/flux-2/klein/9b": json({
        request_id: "req-7",
        status_url: "https://elsewhere.example/steal",
        response_url: "https://elsewhere.example/steal",
      }),
      "/fal-ai/flux-2/requests/req-7/status": (_request, response) =>
        void response.end(JSON.stringify({ status: state.status, queue_position: 0 })),
      "/fal-ai/flux-2/requests/req-7": (_request, response) =>
        void response.end(
          JSON.stringify({ images: [{ url: `${site.base}/files/a.png`, content_type: "image/png" }] }),
        ),
      "/files/a.png": (_request, response) => void response.end(PICTURE),
    });
    return site;
  }

  it("FAL: the queue is asked where it was configured, whatever an answer names", async () => {
    const site = await falServer({ status: "COMPLETED" });
    const { call, path } = await caller({
      flags: settings("fal", site.base),
      env: { FAL_KEY: "fal-key-1234" },
    });
    const result = await call("image_generate", { prompt: "A fox", output: "fox.png" });
    expect(result.structured).toMatchObject({ provider: "fal", job_id: "req-7" });
    expect(readFileSync(path("fox.png"))).toEqual(PICTURE);
    expect(JSON.parse(site.bodies[0] ?? "")).toMatchObject({ prompt: "A fox", image_size: "landscape_16_9" });
  });

  it("an order is paid once: who was interrupted waits for the same job", async () => {
    const state = { status: "IN_PROGRESS" };
    const site = await falServer(state);
    const home = tempDir();
    const options = { home, flags: settings("fal", site.base), env: { FAL_KEY: "fal-key-1234" } };
    const orders = () => site.seen.filter((one) => one.startsWith("POST")).length;
    const first = await caller(options);
    const interrupt = new AbortController();
    const waiting = first.callUntil(interrupt.signal, {
      name: "image_generate",
      arguments: { prompt: "A fox" },
    });
    while (!site.seen.some((one) => one.endsWith("/status")))
      await new Promise((resolve) => setTimeout(resolve, 20));
    interrupt.abort();
    expect((await waiting).ok).toBe(false);
    expect(orders()).toBe(1);
    state.status = "COMPLETED";
    const second = await caller(options);
    const result = await second.call("image_generate", { prompt: "A fox" });
    expect(result.structured).toMatchObject({ job_id: "req-7", resumed: true });
    expect(orders()).toBe(1);
    await second.call("image_generate", { prompt: "A fox" });
    expect(orders()).toBe(2);
  });

  it("a failed order is not sent again, and the reason is told", async () => {
    const site = await startSite({
      "/v1/images/generations": (_request, response) => {
        response.writeHead(400, { "content-type": "application/json" });
        response.end('{"error":{"message":"Your request was rejected by the safety system."}}');
      },
    });
    const { call } = await caller({
      flags: settings("openai", `${site.base}/v1`),
      env: { OPENAI_API_KEY: "sk-test-123456" },
    });
    const { error } = await call("image_generate", { prompt: "A fox" });
    expect(error?.message).toContain("rejected by the safety system");
    expect(site.seen).toHaveLength(1);
  });

  it("is not offered where nobody is set up, and says how", async () => {
    const { call } = await caller();
    const { error } = await call("image_generate", { prompt: "A fox" });
    expect(error).toMatchObject({ code: "unavailable", hint: expect.stringContaining("OPENAI_API_KEY") });
  });
});
