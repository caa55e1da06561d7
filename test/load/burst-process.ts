import { runBurst, type BurstSpec } from "./burst-client.ts";

process.once("message", (spec: BurstSpec) => {
  void runBurst(spec).then(
    (result) => process.send?.({ result }, () => process.exit()),
    (error: unknown) => process.send?.({ error: String(error) }, () => process.exit()),
  );
});
process.on("disconnect", () => process.exit());
process.once("disconnect", () => process.exit());
