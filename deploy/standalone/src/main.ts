import { DataFolderError } from "@scrip/embedded-postgres";
import { explainConnectionFailure, MigrationError } from "@scrip/postgres";
import { runUntilStopped } from "@scrip/rpc";

import { startStandalone } from "./standalone.ts";
import { welcomeText } from "./welcome.ts";
import { WorkerError } from "./workers.ts";

/** The messages of these errors say what to do; any other error is a bug and prints its stack. */
const OPERATOR_ERRORS = [DataFolderError, MigrationError, WorkerError];

await runUntilStopped(
  (stop) => startStandalone(process.env, { progress: (text) => console.log(text), stop }),
  {
    onReady: (scrip) => console.log(welcomeText(scrip, process.stdout.isTTY)),
    onStop: () => console.log("Stopping …"),
    explain: (error) =>
      OPERATOR_ERRORS.some((kind) => error instanceof kind)
        ? (error as Error).message
        : explainConnectionFailure(error),
  },
);
