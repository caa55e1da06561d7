import { expect, test } from "vitest";

import { CONSUMER_GROUPS } from "../../cli/src/consumer-groups.ts";
import { sourceFiles } from "../docs/repository.ts";

const SERVICE = /^(?:gateway|services\/(?!shared)[^/]+)\/src\/(?!.*\.test\.ts$)/;

test("the command line knows the group of each consumer", () => {
  const groups = sourceFiles()
    .filter(({ path }) => SERVICE.test(path))
    .flatMap(({ text }) =>
      [...text.matchAll(/(?:\bgroup: |const WEBHOOK_GROUP = )"([a-z-]+)"/g)].map(
        ([, group]) => group,
      ),
    );
  expect(new Set(CONSUMER_GROUPS)).toEqual(new Set(groups));
});
