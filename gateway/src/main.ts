import { explainConnectionFailure } from "@scrip/postgres";
import { runUntilStopped } from "@scrip/rpc";

import { readProcessConfig } from "./process-config.ts";
import { startProcess } from "./process.ts";

await runUntilStopped(async () => startProcess(readProcessConfig(process.env)), {
  onReady: ({ url }) => console.log(`the gateway serves ${url}`),
  explain: explainConnectionFailure,
});
