import { runLoad, type LoadSpec } from "./load-client.ts";

// One run per message; the process stays, so that only the first run is cold.
process.on("message", (spec: LoadSpec) => {
  void runLoad(spec).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on("disconnect", () => process.exit());
