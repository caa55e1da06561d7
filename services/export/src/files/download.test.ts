import { expect, test } from "vitest";

import { downloadPart } from "./download.ts";

test("a file that cannot be read fails before the part is described", async () => {
  const missing = {
    size: 100,
    // oxlint-disable-next-line require-yield
    async *read(): AsyncGenerator<Uint8Array> {
      throw new Error("no such file");
    },
  };
  await expect(downloadPart(missing, {}).next()).rejects.toThrow("no such file");
});
