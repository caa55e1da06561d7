import { expect, test } from "vitest";

import { withErrorKeys } from "../docs/error-keys.ts";
import { docsPages } from "../docs/examples.ts";

const pages = docsPages();

/** `vitest run --update=all <this file>` writes the keys to the page; `-u <file>` would take the file as its type and run all tests. */
test("the page of errors describes each key as the catalogue and its reference do", async () => {
  const page = pages.find(({ file }) => file === "errors.md")?.text ?? "";
  await expect(withErrorKeys(page)).toMatchFileSnapshot("../../docs/errors.md");
});
