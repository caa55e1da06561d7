import { mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, expect, test } from "vitest";

import { createLocalFiles } from "../src/files/local-files.ts";

const folder = await mkdtemp(path.join(tmpdir(), "scrip-files-"));
afterAll(() => rm(folder, { recursive: true }));

async function* content(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("code,discount\n");
}

test("a file on a full disk fails, and leaves no part; the next one is stored", async () => {
  const files = createLocalFiles(folder);
  await symlink("/dev/full", path.join(folder, "exp_1.part"));
  await expect(files.write("exp_1", content())).rejects.toMatchObject({ code: "ENOSPC" });
  expect(await readdir(folder)).toEqual([]);
  expect(await files.write("exp_1", content())).toBe(14);
});
