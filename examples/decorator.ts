import { tool } from "hermes-tools";

export class Counter {
  #count = 0;

  @tool({
    name: "count_up",
    description: "Add to a counter and tell its value",
    timeoutSeconds: 15,
    parameters: { type: "object", properties: { by: { type: "integer", default: 1 } } },
  })
  up({ by }: { by: number }) {
    this.#count += by;
    return { count: this.#count };
  }
}
