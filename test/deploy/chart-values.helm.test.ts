import { expect, test } from "vitest";

import { CALLEES } from "../../oxlint.config.ts";
import { componentOf, ofKind, render, REQUIRED } from "./chart.ts";

test.each([
  ["no secrets", { ...REQUIRED, secrets: {} }, "secrets.existingSecret"],
  ["no database", { ...REQUIRED, database: {} }, "database.existingSecret"],
  ["nowhere to put files", { ...REQUIRED, files: {} }, "files.bucket or files.existingClaim"],
  ["an unknown setting", { ...REQUIRED, replicas: 3 }, "replicas"],
  ["an unknown setting of a process", { ...REQUIRED, voucher: { replica: 3 } }, "replica"],
  ["a number as text", { ...REQUIRED, defaults: { replicas: "3" } }, "replicas"],
  ["a digest that is none", { ...REQUIRED, image: { digest: "latest" } }, "digest"],
  [
    "a secret in plain text",
    { ...REQUIRED, secrets: { SCRIP_ASSET_SECRET: "x" } },
    "SCRIP_ASSET_SECRET",
  ],
  [
    "a database of its own without a shared event log",
    { ...REQUIRED, voucher: { database: { existingSecret: "d" } } },
    "database.events.existingSecret",
  ],
  ["an ingress without a host", { ...REQUIRED, ingress: { enabled: true } }, "ingress.host"],
  [
    "more connections than PostgreSQL has",
    { ...REQUIRED, database: { existingSecret: "d", maxConnections: 100 } },
    "204 connections",
  ],
])("rejects %s", async (_, values, message) => {
  await expect(render(values)).rejects.toThrow(message);
});

test("a process with a database of its own reads lists from its own replica, or from its database", async () => {
  const replicasWith = async (database: object) => {
    const deployments = ofKind(
      await render({
        ...REQUIRED,
        database: {
          ...REQUIRED.database,
          events: { existingSecret: "events" },
          replica: { existingSecret: "replica" },
        },
        voucher: { database },
      }),
      "Deployment",
    );
    return Object.fromEntries(
      deployments.map(({ metadata, spec }) => [
        componentOf(metadata.labels),
        spec.template.spec.containers[0].env.find(
          ({ name }: { name: string }) => name === "SCRIP_REPLICA_URL",
        )?.valueFrom.secretKeyRef.name,
      ]),
    );
  };
  const others = { gateway: "replica", loyalty: "replica", export: "replica" };
  expect(await replicasWith({})).toMatchObject({ ...others, voucher: "replica" });
  const existingSecret = "voucher-database";
  expect(await replicasWith({ existingSecret })).toMatchObject({ ...others, voucher: undefined });
  const replica = { existingSecret: "voucher-replica" };
  expect(await replicasWith({ existingSecret, replica })).toMatchObject({
    ...others,
    voucher: "voucher-replica",
  });
});

test("a process with a database of its own does without database.events when the log is in Kafka", async () => {
  const values = {
    ...REQUIRED,
    kafka: { brokers: ["kafka:9093"] },
    voucher: { database: { existingSecret: "voucher-database" } },
  };
  expect(ofKind(await render(values), "Deployment")).toHaveLength(Object.keys(CALLEES).length);
});
