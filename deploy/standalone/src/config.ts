import { type Env, readEnv, variable } from "@scrip/config";

export type StandaloneConfig = {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly dataDir: string;
  /** Instead of the embedded server. */
  readonly databaseUrl: string | undefined;
  /** Serves gRPC as well. */
  readonly grpcPort: number | undefined;
  readonly logLevel: string;
};

const MAX_PORT = 65_535;

export function readStandaloneConfig(env: Env): StandaloneConfig {
  return readEnv(env, {
    host: { name: "SCRIP_HOST", reader: variable.withDefault(variable.text, "127.0.0.1") },
    port: {
      name: "SCRIP_PORT",
      reader: variable.withDefault(variable.integer(0, MAX_PORT), 8080),
    },
    dataDir: { name: "SCRIP_DATA_DIR", reader: variable.withDefault(variable.text, ".scrip") },
    databaseUrl: { name: "DATABASE_URL", reader: variable.optional(variable.url) },
    grpcPort: {
      name: "SCRIP_GRPC_PORT",
      reader: variable.optional(variable.integer(1, MAX_PORT)),
    },
    logLevel: { name: "SCRIP_LOG_LEVEL", reader: variable.withDefault(variable.text, "warn") },
  });
}
