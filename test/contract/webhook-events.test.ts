import { readFileSync } from "node:fs";
import path from "node:path";

import { expect, test } from "vitest";

import { RESOURCE_CHANGES as campaign } from "../../services/campaign/src/events/resource-changes.ts";
import { WEBHOOK_EVENTS } from "../../services/export/src/domain/webhook-events.ts";
import { RESOURCE_CHANGES as loyalty } from "../../services/loyalty/src/events/resource-changes.ts";
import { RESOURCE_CHANGES as validation } from "../../services/validation/src/events/resource-changes.ts";
import { RESOURCE_CHANGES as voucher } from "../../services/voucher/src/events/resource-changes.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const published = [...campaign, ...loyalty, ...validation, ...voucher].flatMap(
  ({ names }) => names,
);

/** Sources that are not resource changes name their events in the code. */
const sources = ["event-sources.ts", "announce-export.ts"]
  .map((file) => readFileSync(path.join(ROOT, "services/export/src/webhooks", file), "utf8"))
  .join("\n");

test("every name that a webhook can subscribe to is sent, and every name that is sent can be subscribed to", () => {
  const named = [...WEBHOOK_EVENTS].filter(
    (name) => !published.includes(name) && !sources.includes(`"${name}"`),
  );
  expect(new Set(named)).toEqual(new Set(BUILT));
  expect(published.filter((name) => !WEBHOOK_EVENTS.has(name))).toEqual([]);
});

/** Built from the change in the event. */
const BUILT = [
  ...["joined", "left", "upgraded", "downgraded", "prolonged"].map(
    (change) => `customer.loyalty.tier.${change}`,
  ),
  ...["added", "updated", "activated", "canceled"].map(
    (change) => `voucher.loyalty_card.pending_points.${change}`,
  ),
];

test("the documentation lists every name", () => {
  const page = readFileSync(path.join(ROOT, "docs/webhooks.md"), "utf8");
  const events = page.slice(page.indexOf("\n## Events"));
  const listed = new Set(
    [...events.matchAll(/`([a-z_.]+)`/g)].flatMap(([, name = ""], index, all) => {
      // `.updated` continues the name before it.
      if (!name.startsWith(".")) return [name];
      const before = all.slice(0, index).findLast(([, other = ""]) => !other.startsWith("."));
      return [`${before?.[1]?.replace(/\.[a-z_]+$/, "") ?? ""}${name}`];
    }),
  );
  expect([...WEBHOOK_EVENTS].filter((name) => !listed.has(name))).toEqual([]);
});
