import { setTimeout as sleep } from "node:timers/promises";

import { SERVICES } from "../stack/compositions.ts";
import type { Fault } from "./fault.ts";
import { startSteadyLoad } from "./steady-load.ts";

/** Longer than callers take to find a replica that is back. */
const CALM_MS = 2_500;
const ROUNDS = 3;
const NAMES = [...SERVICES, "gateway"] as const;

export const rollingRestart: Fault = {
  id: "F03",
  title: "Both processes of each service and of the gateway are restarted in turn under requests",
  criterion: "no request fails after at most one new connection, and none is executed twice",
  inEveryRun: true,
  buses: ["postgres"],
  setup: { composition: "distributed", replicas: 2 },
  async run({ stack, shop: { api } }, { full, report }) {
    using load = await startSteadyLoad(api, report);
    for (let round = 0; round < (full ? ROUNDS : 1); round += 1) {
      for (const name of NAMES) {
        load.name(`restart of ${name}`);
        await stack.restart(name);
        await sleep(CALM_MS);
      }
    }
    await load.stop();
  },
};
