import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { freePort } from "@scrip/testing/free-port";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import { createLocalFiles } from "../src/files/local-files.ts";
import { createS3Files } from "../src/files/s3-files.ts";

const BUCKET = "exports";
const folder = await mkdtemp(path.join(tmpdir(), "scrip-files-"));
const port = await freePort();
let server: ChildProcess | undefined;

beforeAll(async () => {
  await mkdir(path.join(folder, "s3", BUCKET), { recursive: true });
  const address = `127.0.0.1:${port}`;
  const args = ["serve", "s3", "--addr", address, "--auth-key", "key,secret", `${folder}/s3`];
  server = spawn("rclone", args, { stdio: "ignore" });
  const isListening = (): Promise<boolean> =>
    fetch(`http://${address}`).then(
      () => true,
      () => false,
    );
  await vi.waitUntil(isListening, { timeout: 60_000 });
});

afterAll(async () => {
  if (server !== undefined) {
    server.kill();
    await once(server, "exit");
  }
  await rm(folder, { recursive: true });
});

async function read(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}

async function* contentOf(...chunks: readonly (Uint8Array | Error)[]): AsyncIterable<Uint8Array> {
  for (const chunk of chunks) {
    if (chunk instanceof Error) throw chunk;
    yield chunk;
  }
}

describe.each([
  ["a folder", () => createLocalFiles(path.join(folder, "local"))],
  [
    "an S3-compatible store",
    () =>
      createS3Files({
        bucket: BUCKET,
        region: "us-east-1",
        endpoint: `http://127.0.0.1:${port}`,
        credentials: { accessKeyId: "key", secretAccessKey: "secret" },
      }),
  ],
])("files in %s", (name, create) => {
  const files = create();

  test("are read in whole and in part, and no longer exist after their deletion", async () => {
    const key = "proj_1/small.csv";
    expect(await files.write(key, contentOf(Buffer.from("Code,"), Buffer.from("Value\n")))).toBe(
      11,
    );
    expect((await read(files.read(key, { first: 0, last: 10 }))).toString()).toBe("Code,Value\n");
    expect((await read(files.read(key, { first: 5, last: 9 }))).toString()).toBe("Value");
    await files.remove(key);
    await files.remove(key);
    await expect(read(files.read(key, { first: 0, last: 0 }))).rejects.toBeInstanceOf(Error);
  });

  test("may be larger than a part of an upload", async () => {
    const key = "proj_1/large.csv";
    const chunks = Array.from({ length: 37 }, (_, index) =>
      Buffer.alloc(500_003, 65 + (index % 26)),
    );
    const whole = Buffer.concat(chunks);
    expect(await files.write(key, contentOf(...chunks))).toBe(whole.length);
    const stored = await read(files.read(key, { first: 0, last: whole.length - 1 }));
    expect(stored.equals(whole)).toBe(true);
  });

  test("exist only when they are complete", async () => {
    const key = "proj_2/broken.csv";
    const broken = contentOf(Buffer.alloc(9 << 20), new Error("the rows ended"));
    await expect(files.write(key, broken)).rejects.toThrow("the rows ended");
    await expect(read(files.read(key, { first: 0, last: 0 }))).rejects.toBeInstanceOf(Error);
    const below = path.join(folder, name === "a folder" ? "local" : `s3/${BUCKET}`);
    expect(await readdir(below, { recursive: true })).not.toContain(key);
  });
});
