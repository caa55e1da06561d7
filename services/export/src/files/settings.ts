import path from "node:path";

import { ConfigError, type Env, readEnv, variable } from "@scrip/config";

import type { FileStore } from "./file-store.ts";
import { createLocalFiles } from "./local-files.ts";

/** Where the files of exports are: in a bucket, or in a folder of this machine. */
export type FileSettings =
  | { readonly bucket: string; readonly region: string; readonly endpoint: string | undefined }
  | { readonly folder: string };

/** SCRIP_EXPORT_BUCKET has priority over SCRIP_EXPORT_FOLDER, and that over the default folder. */
export function readFileSettings(env: Env, defaultFolder?: string): FileSettings {
  const { folder, bucket, endpoint, region } = readEnv(env, {
    folder: { name: "SCRIP_EXPORT_FOLDER", reader: variable.optional(variable.text) },
    bucket: { name: "SCRIP_EXPORT_BUCKET", reader: variable.optional(variable.text) },
    endpoint: { name: "SCRIP_EXPORT_S3_URL", reader: variable.optional(variable.url) },
    region: {
      name: "SCRIP_EXPORT_S3_REGION",
      reader: variable.withDefault(variable.text, "us-east-1"),
    },
  });
  if (bucket !== undefined) return { bucket, region, endpoint };
  const local = folder ?? defaultFolder;
  if (local === undefined) {
    throw new ConfigError(
      "SCRIP_EXPORT_FOLDER or SCRIP_EXPORT_BUCKET must say where the files of exports are",
    );
  }
  return { folder: path.resolve(local) };
}

export async function openFileStore(settings: FileSettings): Promise<FileStore> {
  if ("folder" in settings) return createLocalFiles(settings.folder);
  // The SDK takes 50 MiB, which a process that writes to a folder does without.
  const { createS3Files } = await import("./s3-files.ts");
  return createS3Files(settings);
}
