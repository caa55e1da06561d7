import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { startEmbeddedPostgres } from "@scrip/embedded-postgres";
import { expect, test } from "vitest";

import { scrip } from "./installation.ts";

test("works on the embedded database with and without its process", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-cli-"));
  const env = { SCRIP_DATA_DIR: folder };
  try {
    {
      await using server = await startEmbeddedPostgres({ dataDir: folder });
      expect(server.url).toContain("127.0.0.1");
      expect(await scrip(env, "migrate")).toMatchObject({ exitCode: 0, errors: "" });
      expect(await scrip(env, "check-invariants", "--json")).toMatchObject({
        exitCode: 0,
        json: { violations: 0 },
      });
    }
    expect(await scrip(env, "check-invariants", "--json")).toMatchObject({
      exitCode: 0,
      json: { violations: 0 },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
