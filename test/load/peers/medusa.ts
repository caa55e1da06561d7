import { fork } from "node:child_process";

import type { Contender, Race, Round } from "./contender.ts";
import type { Figures } from "./drive.ts";

export type MedusaRequest =
  | ({ readonly kind: "measure" } & Round)
  | { readonly kind: "race"; readonly attempts: number };
export type MedusaReply = { readonly result?: unknown; readonly error?: string };

/** Starts Medusa's promotion module in a process that also makes the calls, so that nothing is between them. */
export async function startMedusa(databaseUrl: string): Promise<Contender> {
  const child = fork(new URL("medusa-process.ts", import.meta.url), {
    env: {
      ...process.env,
      NODE_ENV: "production",
      LOG_LEVEL: "error",
      MEDUSA_DISABLE_TELEMETRY: "true",
      DATABASE_URL: databaseUrl,
    },
    // Medusa lists its migrations on standard output, which is for the report.
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const receive = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error("the process of Medusa ended early"));
      child.once("exit", ended);
      child.once("message", ({ result, error }: MedusaReply) => {
        child.off("exit", ended);
        if (error === undefined) resolve(result);
        else reject(new Error(`Medusa: ${error}`));
      });
    });
  const perform = (request: MedusaRequest): Promise<unknown> => {
    child.send(request);
    return receive();
  };
  await receive();
  return {
    name: "Medusa",
    pid: child.pid ?? 0,
    measure: async (round) => (await perform({ kind: "measure", ...round })) as Figures,
    race: async (attempts) => (await perform({ kind: "race", attempts })) as Race,
    [Symbol.asyncDispose]: async () => {
      const exited = new Promise((resolve) => {
        child.once("exit", resolve);
      });
      child.disconnect();
      await exited;
    },
  };
}
