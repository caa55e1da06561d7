import { expect, test } from "vitest";

import { CALLEES } from "../../oxlint.config.ts";
import { componentOf, ofKind, podsOf, render, REQUIRED } from "./chart.ts";

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
  [
    "a database of its own without a place for dead letters of Kafka",
    {
      ...REQUIRED,
      voucher: { database: { existingSecret: "d" } },
      kafka: { brokers: ["kafka:9092"] },
    },
    "database.events.existingSecret",
  ],
  [
    "a schedule that is none",
    { ...REQUIRED, checkInvariants: { schedule: "nightly" } },
    "checkInvariants/schedule",
  ],
  ["an ingress without a host", { ...REQUIRED, ingress: { enabled: true } }, "ingress.host"],
  [
    "more connections than PostgreSQL has while pods are replaced",
    { ...REQUIRED, database: { existingSecret: "d", maxConnections: 300 } },
    "306 connections",
  ],
  ["a tag that changes", { ...REQUIRED, image: { tag: "latest" } }, "image.tag"],
  [
    "a process that would be killed while it drains",
    { ...REQUIRED, drainSeconds: 30 },
    "terminationGracePeriodSeconds must be drainSeconds and 20 for the requests in progress: 50",
  ],
  [
    "certificates of some processes only",
    { ...REQUIRED, voucher: { tlsSecret: "x" } },
    "only voucher would encrypt gRPC",
  ],
  [
    "less memory than a process needs",
    { ...REQUIRED, loyalty: { resources: { limits: { memory: "500M" } } } },
    "loyalty.resources.limits.memory (500M) must be 512Mi or more",
  ],
  [
    "fewer replicas at most than at least",
    {
      ...REQUIRED,
      defaults: { autoscaling: { enabled: true } },
      export: { autoscaling: { minReplicas: 7 } },
    },
    "export.autoscaling.minReplicas (7) must not be more than maxReplicas (6)",
  ],
  ["a name that Kubernetes rejects", { ...REQUIRED, fullnameOverride: "Bad_Name" }, "Bad_Name"],
  [
    "more workers than the memory is enough for",
    { ...REQUIRED, mode: "standalone", standalone: { workers: 8 } },
    "defaults.resources.limits.memory (1Gi) must be 1Gi for each of standalone.workers (8)",
  ],
  [
    "more workers than PostgreSQL has connections for",
    {
      mode: "standalone",
      database: { existingSecret: "d", maxConnections: 100 },
      standalone: { workers: 2 },
      defaults: { resources: { limits: { memory: "2Gi" } } },
    },
    "90 connections",
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

test("accepts the connections of replicas and their replacements exactly", async () => {
  const values = { ...REQUIRED, database: { existingSecret: "d", maxConnections: 326 } };
  expect(ofKind(await render(values), "Deployment")).toHaveLength(Object.keys(CALLEES).length);
});

test("divides the heap among the workers of standalone", async () => {
  const [container] = podsOf(
    await render({
      ...REQUIRED,
      mode: "standalone",
      standalone: { workers: 4 },
      defaults: { resources: { limits: { memory: "4Gi" } } },
    }),
  ).flatMap(({ containers }) => containers);
  expect(container.env).toContainEqual({
    name: "NODE_OPTIONS",
    value: "--max-old-space-size-percentage=15",
  });
});

test.each([["distributed"], ["standalone"]])(
  "extraEnv replaces variables of the chart, that of a process those of all: %s",
  async (mode) => {
    const pods = podsOf(
      await render({
        ...REQUIRED,
        mode,
        extraEnv: [
          { name: "SCRIP_LOG_LEVEL", value: "warn" },
          { name: "SCRIP_EVENT_RETENTION", value: "24h" },
        ],
        defaults: { extraEnv: [{ name: "SCRIP_EVENT_RETENTION", value: "48h" }] },
      }),
    );
    const environments = pods
      .flatMap(({ containers }) => containers)
      .map(({ env = [] }: { readonly env?: readonly { readonly name: string }[] }) => env)
      .filter((env) => env.some(({ name }) => name === "SCRIP_LOG_LEVEL"));
    expect(environments).toHaveLength(mode === "standalone" ? 1 : Object.keys(CALLEES).length);
    for (const env of environments) {
      expect(new Set(env.map(({ name }) => name)).size).toBe(env.length);
      expect(env).toContainEqual({ name: "SCRIP_LOG_LEVEL", value: "warn" });
      expect(env).toContainEqual({ name: "SCRIP_EVENT_RETENTION", value: "48h" });
    }
  },
);

test("schedules all pods by the defaults, those of migrations and of `helm test` too", async () => {
  const scheduling = {
    nodeSelector: { pool: "shop" },
    tolerations: [{ key: "spot", operator: "Exists" }],
    priorityClassName: "high",
  };
  const pods = podsOf(await render({ ...REQUIRED, defaults: scheduling }));
  expect(pods).toHaveLength(Object.keys(CALLEES).length + 2);
  for (const pod of pods) expect(pod).toMatchObject(scheduling);
});

test.each([["distributed"], ["standalone"]])(
  "checks the invariants on schedule: %s",
  async (mode) => {
    const values = { ...REQUIRED, mode, checkInvariants: { schedule: "0 3 * * *" } };
    const objects = await render(values);
    const [job] = ofKind(objects, "CronJob");
    expect(job.spec.schedule).toBe("0 3 * * *");
    expect(podsOf([job]).flatMap(({ containers }) => containers)).toMatchObject([
      {
        args: ["cli/bin/scrip.mjs", "check-invariants"],
        env: [{ name: "DATABASE_URL", valueFrom: { secretKeyRef: { name: "scrip-database" } } }],
      },
    ]);
    // The name of a CronJob has 52 characters at most; the alerts look for its end.
    const longest = await render({ ...values, fullnameOverride: "x".repeat(60) });
    for (const { metadata } of [job, ...ofKind(longest, "CronJob")]) {
      expect(metadata.name).toMatch(/^.{1,41}-invariants$/);
    }
    const policies = ofKind(objects, "NetworkPolicy").filter(
      ({ spec }) => componentOf(spec.podSelector.matchLabels) === "invariants",
    );
    expect(policies.map(({ spec }) => spec.ingress)).toEqual([[]]);
    expect(ofKind(await render({ ...REQUIRED, mode }), "CronJob")).toEqual([]);
  },
);

test("applies extraEgress to every pod", async () => {
  const rule = { ports: [{ port: 4318 }] };
  const policies = ofKind(
    await render({
      ...REQUIRED,
      checkInvariants: { schedule: "@daily" },
      networkPolicy: { extraEgress: [rule] },
    }),
    "NetworkPolicy",
  );
  expect(policies).toHaveLength(Object.keys(CALLEES).length + 2);
  for (const { spec } of policies) expect(spec.egress).toContainEqual(rule);
});

test.each([
  ["http://minio.data:9000", [], [{ ports: [{ port: 9000 }] }]],
  ["http://minio.data", [], [{ ports: [{ port: 80 }] }]],
  ["https://store.example", [], []],
  [
    "https://minio.data",
    [{ namespaceSelector: {} }],
    [{ ports: [{ port: 443 }], to: [{ namespaceSelector: {} }] }],
  ],
])("allows export to reach the bucket at %s", async (s3Url, bucketTo, expected) => {
  const egressWith = async (values: object): Promise<readonly unknown[]> => {
    const policies = ofKind(await render({ ...REQUIRED, ...values }), "NetworkPolicy");
    return policies.find(({ spec }) => componentOf(spec.podSelector.matchLabels) === "export").spec
      .egress;
  };
  const before = await egressWith({});
  const after = await egressWith({ files: { bucket: "b", s3Url }, networkPolicy: { bucketTo } });
  expect(after).toEqual([...before, ...expected]);
});

test("scales by waiting requests where a target is set, and by the processor everywhere", async () => {
  const objects = await render({
    ...REQUIRED,
    defaults: { autoscaling: { enabled: true } },
    gateway: { autoscaling: { targetWaitingRequests: 20 } },
  });
  const metricsOf = new Map(
    ofKind(objects, "HorizontalPodAutoscaler").map(({ metadata, spec }) => [
      componentOf(metadata.labels),
      spec.metrics,
    ]),
  );
  const processor = {
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 60 } },
  };
  expect(metricsOf.get("voucher")).toEqual([processor]);
  expect(metricsOf.get("gateway")).toEqual([
    processor,
    {
      type: "Pods",
      pods: {
        metric: { name: "admission_light_waiting" },
        target: { type: "AverageValue", averageValue: "20" },
      },
    },
  ]);
});
