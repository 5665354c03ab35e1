import { defineTool } from "hermes-tools";
import { z } from "zod";

export default defineTool({
  name: "plan_trip",
  description: "Say how many days lie between two dates",
  parameters: z
    .object({ from: z.iso.date(), to: z.iso.date(), travellers: z.number().int().min(1).default(1) })
    .refine(({ from, to }) => from <= to, { message: "the trip ends before it begins", path: ["to"] }),
  handler: ({ from, to, travellers }) => {
    const days = (Date.parse(to) - Date.parse(from)) / 86_400_000;
    return { days, traveller_days: days * travellers };
  },
});
