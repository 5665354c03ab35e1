export type Aspect = "landscape" | "square" | "portrait";

export interface Wanted {
  readonly prompt: string;
  readonly aspect: Aspect;
  readonly model: string;
}

/** Where a picture is in an answer: `images.0.url`. */
export type PicturePlace =
  | { readonly base64: string; readonly url?: string }
  | { readonly url: string }
  /** In the history of ComfyUI: the first picture that any node has saved. */
  | { readonly comfyHistory: true };

export interface Provider {
  readonly name: "openai" | "fal" | "sdwebui" | "comfyui";
  /** Variable that holds its key; without one, no key is needed. */
  readonly key?: string;
  /** Where it is unless the operator says otherwise. */
  readonly base: string;
  readonly model: string;
  /** What to ask first for a model when none is named: a path, and where the names are. */
  readonly models?: { readonly path: string; readonly names: string };
  /** `{key}` is replaced. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly submit: { path(wanted: Wanted): string; body(wanted: Wanted): Readonly<Record<string, unknown>> };
  /** Left out when the picture is in the first answer. */
  readonly job?: {
    /** Where its number is in the first answer. */
    readonly id: string;
    status(id: string, wanted: Wanted): string;
    isDone(answer: unknown, id: string): boolean;
    /** Where the result is, when it is not in the status. */
    result?(id: string, wanted: Wanted): string;
  };
  readonly picture: PicturePlace;
}

const OPENAI_SIZES: Readonly<Record<Aspect, string>> = {
  landscape: "1536x1024",
  square: "1024x1024",
  portrait: "1024x1536",
};
const FAL_SIZES: Readonly<Record<Aspect, string>> = {
  landscape: "landscape_16_9",
  square: "square_hd",
  portrait: "portrait_16_9",
};
const DIFFUSION_SIZES: Readonly<Record<Aspect, { readonly width: number; readonly height: number }>> = {
  landscape: { width: 1216, height: 832 },
  square: { width: 1024, height: 1024 },
  portrait: { width: 832, height: 1216 },
};
const STEPS = 25;

/** One row per provider, in the order they are tried; each as its documentation describes it (2026-11). */
export const PROVIDERS: readonly Provider[] = [
  {
    // platform.openai.com/docs/api-reference/images/create; many servers speak it too.
    name: "openai",
    key: "OPENAI_API_KEY",
    base: "https://api.openai.com/v1",
    model: "gpt-image-1",
    headers: { authorization: "Bearer {key}" },
    submit: {
      path: () => "/images/generations",
      body: ({ prompt, aspect, model }) => ({ model, prompt, n: 1, size: OPENAI_SIZES[aspect] }),
    },
    picture: { base64: "data.0.b64_json", url: "data.0.url" },
  },
  {
    // docs.fal.ai/model-apis/model-endpoints/queue
    name: "fal",
    key: "FAL_KEY",
    base: "https://queue.fal.run",
    model: "fal-ai/flux-2/klein/9b",
    headers: { authorization: "Key {key}" },
    submit: {
      path: ({ model }) => `/${model}`,
      body: ({ prompt, aspect }) => ({
        prompt,
        image_size: FAL_SIZES[aspect],
        num_images: 1,
        output_format: "png",
      }),
    },
    job: {
      id: "request_id",
      status: (id, { model }) => `/${falApp(model)}/requests/${id}/status`,
      isDone: (answer) => has(answer, "status", "COMPLETED"),
      result: (id, { model }) => `/${falApp(model)}/requests/${id}`,
    },
    picture: { url: "images.0.url" },
  },
  {
    // github.com/AUTOMATIC1111/stable-diffusion-webui/wiki/API
    name: "sdwebui",
    base: "http://127.0.0.1:7860",
    model: "",
    submit: {
      path: () => "/sdapi/v1/txt2img",
      body: ({ prompt, aspect, model }) => ({
        prompt,
        ...DIFFUSION_SIZES[aspect],
        steps: STEPS,
        ...(model !== "" && { override_settings: { sd_model_checkpoint: model } }),
      }),
    },
    picture: { base64: "images.0" },
  },
  {
    // docs.comfy.org/development/comfyui-server/comms_routes
    name: "comfyui",
    base: "http://127.0.0.1:8188",
    model: "",
    models: {
      path: "/object_info/CheckpointLoaderSimple",
      names: "CheckpointLoaderSimple.input.required.ckpt_name.0",
    },
    submit: {
      path: () => "/prompt",
      body: (wanted) => ({ prompt: comfyWorkflow(wanted), client_id: "hermes" }),
    },
    job: {
      id: "prompt_id",
      status: (id) => `/history/${id}`,
      isDone: (answer, id) => typeof answer === "object" && answer !== null && id in answer,
    },
    picture: { comfyHistory: true },
  },
];

/** The queue of a model is that of its app: the first two parts of the name. */
function falApp(model: string): string {
  return model.split("/").slice(0, 2).join("/");
}

function has(answer: unknown, name: string, value: string): boolean {
  return typeof answer === "object" && answer !== null && Reflect.get(answer, name) === value;
}

/** The graph that ComfyUI itself opens with: a checkpoint, two texts, a sampler. */
function comfyWorkflow({ prompt, aspect, model }: Wanted): Readonly<Record<string, unknown>> {
  const node = (class_type: string, inputs: Readonly<Record<string, unknown>>) => ({ class_type, inputs });
  return {
    "3": node("KSampler", {
      seed: Math.floor(Math.random() * 2 ** 48),
      steps: STEPS,
      cfg: 7,
      sampler_name: "euler",
      scheduler: "normal",
      denoise: 1,
      model: ["4", 0],
      positive: ["6", 0],
      negative: ["7", 0],
      latent_image: ["5", 0],
    }),
    "4": node("CheckpointLoaderSimple", { ckpt_name: model }),
    "5": node("EmptyLatentImage", { ...DIFFUSION_SIZES[aspect], batch_size: 1 }),
    "6": node("CLIPTextEncode", { text: prompt, clip: ["4", 1] }),
    "7": node("CLIPTextEncode", { text: "", clip: ["4", 1] }),
    "8": node("VAEDecode", { samples: ["3", 0], vae: ["4", 2] }),
    "9": node("SaveImage", { filename_prefix: "hermes", images: ["8", 0] }),
  };
}
