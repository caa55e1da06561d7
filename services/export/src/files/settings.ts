import path from "node:path";

import { ConfigError, type Env, readEnv, variable } from "@scrip/config";

import type { FileStore } from "./file-store.ts";
import { createLocalFiles } from "./local-files.ts";

/** Files of exports: in a bucket if SCRIP_EXPORT_BUCKET is set, else in a folder. */
export async function readFileStore(env: Env, defaultFolder?: string): Promise<FileStore> {
  const { folder, bucket, endpoint, region } = readEnv(env, {
    folder: { name: "SCRIP_EXPORT_FOLDER", reader: variable.optional(variable.text) },
    bucket: { name: "SCRIP_EXPORT_BUCKET", reader: variable.optional(variable.text) },
    endpoint: { name: "SCRIP_EXPORT_S3_URL", reader: variable.optional(variable.url) },
    region: {
      name: "SCRIP_EXPORT_S3_REGION",
      reader: variable.withDefault(variable.text, "us-east-1"),
    },
  });
  if (bucket !== undefined) {
    // The SDK takes 50 MiB, which a process that writes to a folder does without.
    const { createS3Files } = await import("./s3-files.ts");
    return createS3Files({ bucket, region, endpoint });
  }
  const local = folder ?? defaultFolder;
  if (local === undefined) {
    throw new ConfigError(
      "SCRIP_EXPORT_FOLDER or SCRIP_EXPORT_BUCKET must say where the files of exports are",
    );
  }
  return createLocalFiles(path.resolve(local));
}
