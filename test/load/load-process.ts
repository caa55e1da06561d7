import { runLoad, type LoadSpec } from "./load-client.ts";

// One run for each message; the process stays, so that only the first run finds it cold.
process.on("message", (spec: LoadSpec) => {
  void runLoad(spec).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on("disconnect", () => process.exit());
