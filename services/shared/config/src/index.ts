export { ConfigError, type Env, readEnv, readTogether } from "./read-env.ts";
export { type Reader } from "./reader.ts";
export { variable } from "./variable.ts";
