import { type Env, readEnv, variable } from "@scrip/config";

import type { CodeGuessingSettings } from "./code-guessing.ts";

const MAX = 1_000_000_000;

const limit = (fallback: number) => variable.withDefault(variable.integer(0, MAX), fallback);

/** docs/rate-limits.md#code-guessing */
export const readCodeGuessingSettings = (env: Env): CodeGuessingSettings =>
  readEnv(env, {
    codeMisses: { name: "SCRIP_LIMIT_CODE_MISSES", reader: limit(20) },
    keyCodeMisses: { name: "SCRIP_LIMIT_KEY_CODE_MISSES", reader: limit(3_000) },
    serverCodeMisses: { name: "SCRIP_LIMIT_SERVER_CODE_MISSES", reader: limit(300) },
  });
