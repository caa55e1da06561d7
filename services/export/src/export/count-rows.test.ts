import { expect, test } from "vitest";

import { countRows } from "./count-rows.ts";

test("counts rows across chunks, without line breaks within quotes", () => {
  const counter = countRows();
  for (const chunk of ["Head", 'er\n"a\n', 'b""\n"\nplain\n', 'x,"y"\n']) {
    counter.add(Buffer.from(chunk));
  }
  expect(counter.rows()).toBe(3);
});
