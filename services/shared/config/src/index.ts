export { ConfigError, type Env, readEnv, type Reader, variable } from "./read-env.ts";
