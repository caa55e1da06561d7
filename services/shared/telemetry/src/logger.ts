import { pino } from "pino";

/** Structured lines on standard output; what is a secret never reaches them. */
export type Logger = {
  readonly debug: (fields: object, message: string) => void;
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
};

const SECRETS = [
  "authorization",
  "access_token",
  "accessToken",
  "app_token",
  "appToken",
  "token",
  "password",
  "secret",
  "email",
  '["x-app-token"]',
  '["x-client-token"]',
  '["x-management-token"]',
];

export function createLogger(options: { readonly service: string; readonly level: string }): Logger {
  const paths = SECRETS.flatMap((name) => [name, name.startsWith("[") ? `*${name}` : `*.${name}`]);
  return pino({
    name: options.service,
    level: options.level,
    redact: { paths, censor: "[redacted]" },
    serializers: { error: pino.stdSerializers.err },
  });
}
