import { expect, test } from "vitest";

import { CALLEES } from "../../oxlint.config.ts";
import { sourceFiles } from "../docs/repository.ts";
import {
  componentOf,
  findInvalid,
  type KubernetesObject,
  lint,
  ofKind,
  podsOf,
  render,
  REQUIRED,
} from "./chart.ts";

/** Installations that platform teams could have; together they use all settings of the chart. */
const INSTALLATIONS: Record<string, object> = {
  "least settings": REQUIRED,
  standalone: { mode: "standalone", database: REQUIRED.database },
  "standalone behind an ingress": {
    mode: "standalone",
    database: REQUIRED.database,
    standalone: { storageClassName: "fast" },
    ingress: { enabled: true, host: "shop.example" },
    networkPolicy: { gatewayFrom: [{ namespaceSelector: {} }] },
  },
  "Kafka, Redis and a private authority": {
    ...REQUIRED,
    kafka: {
      brokers: ["kafka-1.data:9093", "kafka-2.data:9093"],
      tls: true,
      epoch: 1,
      sasl: { mechanism: "scram-sha-256", existingSecret: "kafka-user" },
    },
    redis: { existingSecret: "redis" },
    certificateAuthority: { existingConfigMap: "company-authority" },
    files: { existingClaim: "scrip-files" },
    checkInvariants: { schedule: "0 3 * * *" },
    networkPolicy: {
      databaseTo: [{ ipBlock: { cidr: "10.1.0.0/16" } }],
      redisTo: [{ ipBlock: { cidr: "10.2.0.0/16" } }],
      kafkaTo: [{ namespaceSelector: { matchLabels: { name: "data" } } }],
      grpcFrom: [{ podSelector: { matchLabels: { app: "warehouse" } } }],
      extraEgress: [{ ports: [{ port: 4318 }] }],
    },
  },
  "all that is optional": {
    ...REQUIRED,
    fullnameOverride: "vouchers",
    image: { digest: `sha256:${"0".repeat(64)}`, pullSecrets: [{ name: "registry" }] },
    files: {
      bucket: "scrip",
      s3Url: "https://store.example",
      region: "eu-west-1",
      existingSecret: "s3",
    },
    database: {
      existingSecret: "scrip-database",
      events: { existingSecret: "events", key: "url" },
      pooler: { existingSecret: "pgbouncer" },
      replica: { existingSecret: "replica" },
      maxConnections: 1_000,
    },
    mutualTls: { existingSecret: "scrip-tls" },
    baseUrl: "https://api.shop.example",
    trustedProxies: 1,
    extraEnv: [{ name: "SCRIP_EVENT_RETENTION", value: "24h" }],
    defaults: {
      autoscaling: { enabled: true, targetWaitingRequests: 20, metrics: [] },
      podAnnotations: { team: "shop" },
      podLabels: { team: "shop" },
      tolerations: [{ key: "spot", operator: "Exists" }],
      nodeSelector: { pool: "shop" },
      priorityClassName: "high",
    },
    voucher: {
      serviceKeySecret: "voucher-key",
      tlsSecret: "voucher-tls",
      database: {
        existingSecret: "voucher-database",
        replica: { existingSecret: "voucher-replica" },
      },
      autoscaling: { maxReplicas: 10 },
      extraEnv: [{ name: "SCRIP_LOG_LEVEL", value: "warn" }],
    },
    ingress: {
      enabled: true,
      host: "api.shop.example",
      className: "nginx",
      tlsSecret: "shop-tls",
      annotations: { "nginx.ingress.kubernetes.io/proxy-body-size": "2g" },
    },
    service: { annotations: { team: "shop" } },
    serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
    prometheusRule: { enabled: true, labels: { release: "prometheus" } },
    dashboards: { enabled: true },
  },
  "one replica of each process": {
    ...REQUIRED,
    defaults: { replicas: 1 },
    networkPolicy: { enabled: false },
    topologySpread: { enabled: false },
  },
};

const KUBERNETES_VERSIONS = ["1.30", "1.37"];

/** Prometheus defines these kinds; the tests below look into them. */
const isOfPrometheus = ({ apiVersion }: KubernetesObject): boolean =>
  apiVersion === "monitoring.coreos.com/v1";

const PROCESSES = Object.keys(CALLEES);

const sources = sourceFiles()
  .filter((file) => /^(gateway|services|deploy\/standalone)\/.*\.ts$/.test(file.path))
  .map(({ text }) => text)
  .join("\n");

test.each(Object.entries(INSTALLATIONS))(
  "lints and renders objects that Kubernetes accepts: %s",
  async (_, values) => {
    expect(await lint(values)).toContain("0 chart(s) failed");
    const objects = await render(values);
    const standard = objects.filter((object) => !isOfPrometheus(object));
    const findings = KUBERNETES_VERSIONS.map((version) => findInvalid(standard, version));
    expect(await Promise.all(findings)).toEqual(KUBERNETES_VERSIONS.map(() => ""));
  },
);

test("finds objects that Kubernetes does not accept", async () => {
  const [deployment] = ofKind(await render(REQUIRED), "Deployment");
  const unknown = { ...deployment, spec: { ...deployment.spec, replicaas: 2 } };
  expect(await findInvalid([unknown], "1.37")).toContain("replicaas");
});

test.each(Object.entries(INSTALLATIONS))(
  "runs all pods under the restricted profile with a read-only root: %s",
  async (_, values) => {
    const pods = podsOf(await render(values));
    expect(pods.length).toBeGreaterThan(1);
    for (const pod of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      });
      for (const container of pod.containers) {
        expect(container).toMatchObject({
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          resources: { requests: expect.anything(), limits: { memory: expect.anything() } },
        });
      }
    }
  },
);

test("allows the calls of the service graph, and no others", async () => {
  const policies = ofKind(await render(REQUIRED), "NetworkPolicy");
  const peers = (rules: readonly KubernetesObject[], side: "from" | "to"): string[] =>
    rules
      .filter(({ ports }) => ports.some(({ port }: { port: number }) => port === 9090))
      .flatMap((rule) => rule[side])
      .map(({ podSelector }) => componentOf(podSelector.matchLabels))
      .toSorted();
  const found = policies.map(({ spec }) => ({
    name: componentOf(spec.podSelector.matchLabels),
    callers: peers(spec.ingress, "from"),
    callees: peers(spec.egress, "to"),
  }));
  const expected = PROCESSES.map((name) => ({
    name,
    callers: PROCESSES.filter((caller) => CALLEES[caller]?.includes(name)).toSorted(),
    callees: [...(CALLEES[name] ?? [])].toSorted(),
  }));
  const byName = new Map(found.map((policy) => [policy.name, policy]));
  expect(byName).toEqual(
    new Map(
      [...expected, { name: "migrations", callers: [], callees: [] }].map((each) => [
        each.name,
        each,
      ]),
    ),
  );
});

test("a restricted gateway takes the call of `helm test`", async () => {
  const gatewayFrom = [{ namespaceSelector: { matchLabels: { name: "ingress" } } }];
  const objects = await render({ ...REQUIRED, networkPolicy: { gatewayFrom } });
  const [pod] = ofKind(objects, "Pod");
  const gateway = ofKind(objects, "NetworkPolicy").find(
    ({ spec }) => componentOf(spec.podSelector.matchLabels) === "gateway",
  );
  const [{ from }] = gateway.spec.ingress;
  expect(from.slice(0, -1)).toEqual(gatewayFrom);
  expect(pod.metadata.labels).toMatchObject(from.at(-1).podSelector.matchLabels);
});

test.each([["distributed"], ["standalone"]])(
  "does not publish the metrics with the API: %s",
  async (mode) => {
    const objects = await render({ ...REQUIRED, mode, service: { type: "LoadBalancer" } });
    const services = ofKind(objects, "Service");
    const portsOf = (type: string | undefined): string[] =>
      services
        .filter(({ spec }) => spec.type === type)
        .flatMap(({ spec }) => spec.ports.map(({ name }: { name: string }) => name));
    expect(portsOf("LoadBalancer")).toEqual(["http"]);
    // The label `job` of each process, once.
    const scraped = services.filter(({ spec }) =>
      spec.ports.some(({ name }: { name: string }) => name === "metrics"),
    );
    const expected = mode === "standalone" ? ["standalone"] : PROCESSES;
    expect(scraped.map(({ metadata }) => componentOf(metadata.labels)).toSorted()).toEqual(
      expected.toSorted(),
    );
  },
);

const ofDatabase = (part: string): object => ({
  database: { ...REQUIRED.database, [part]: { existingSecret: "new" } },
});

/** Components whose pods restart when this secret has another name, which counts as its value. */
async function restartedBy(values: object, changed: object): Promise<readonly string[]> {
  const checksums = async (input: object) =>
    new Map(
      (await render(input))
        .filter(({ kind }) => ["Deployment", "StatefulSet"].includes(kind))
        .map(({ metadata, spec }) => [
          componentOf(metadata.labels),
          spec.template.metadata.annotations["checksum/secrets"],
        ]),
    );
  const [before, after] = [await checksums(values), await checksums({ ...values, ...changed })];
  return [...before].filter(([name, sum]) => after.get(name) !== sum).map(([name]) => name);
}

const ONE_POD = ["standalone"];

test.each<[string, object, readonly string[], readonly string[]]>([
  ["secrets", { secrets: { existingSecret: "new" } }, PROCESSES, []],
  ["database", { database: { existingSecret: "new" } }, PROCESSES, ONE_POD],
  ["events", ofDatabase("events"), PROCESSES, []],
  ["pooler", ofDatabase("pooler"), PROCESSES, ONE_POD],
  ["replica", ofDatabase("replica"), PROCESSES, ONE_POD],
  ["Redis", { redis: { existingSecret: "new" } }, PROCESSES, ONE_POD],
  [
    "Kafka",
    { kafka: { brokers: ["kafka:9093"], sasl: { existingSecret: "new" } } },
    PROCESSES,
    ONE_POD,
  ],
  ["files", { files: { bucket: "scrip", existingSecret: "new" } }, ["export"], ONE_POD],
])(
  "restarts the processes whose variables are in a changed secret: %s",
  async (_, changed, distributed, standalone) => {
    expect((await restartedBy(REQUIRED, changed)).toSorted()).toEqual(distributed.toSorted());
    expect(await restartedBy({ ...REQUIRED, mode: "standalone" }, changed)).toEqual(standalone);
  },
);

test("encrypts gRPC when there are certificates, each process with its own or with that of all", async () => {
  const deployments = ofKind(
    await render(INSTALLATIONS["all that is optional"] ?? {}),
    "Deployment",
  );
  for (const { metadata, spec } of deployments) {
    const name = componentOf(metadata.labels);
    const { containers, volumes } = spec.template.spec;
    const { secret } = volumes.find((volume: { name: string }) => volume.name === "tls");
    expect(secret.secretName).toBe(name === "voucher" ? "voucher-tls" : "scrip-tls");
    const urls = containers[0].env.filter(({ value = "" }) => value.endsWith(":9090"));
    expect(urls).toHaveLength(CALLEES[name]?.length ?? -1);
    for (const { value } of urls) expect(value).toMatch(/^https:/);
  }
});

test("gives each process the addresses of its callees: names of services without an address", async () => {
  const objects = await render(REQUIRED);
  for (const name of PROCESSES) {
    const deployment = ofKind(objects, "Deployment").find(
      ({ metadata }) => componentOf(metadata.labels) === name,
    );
    const [container] = deployment.spec.template.spec.containers;
    const urls = container.env
      .filter((each: { name: string }) => /^SCRIP_[A-Z]+_URL$/.test(each.name))
      .filter(({ name: variable }: { name: string }) => variable !== "SCRIP_BASE_URL")
      .map(({ value }: { value: string }) => new URL(value).hostname.split(".")[0]);
    expect(urls.toSorted()).toEqual(
      (CALLEES[name] ?? []).map((each) => `shop-scrip-${each}`).toSorted(),
    );
  }
  const headless = ofKind(objects, "Service").filter(({ spec }) => spec.clusterIP === "None");
  expect(headless.map(({ metadata }) => componentOf(metadata.labels)).toSorted()).toEqual(
    PROCESSES.filter((name) => name !== "gateway").toSorted(),
  );
});

test.each(Object.entries(INSTALLATIONS))("sets variables that exist: %s", async (_, values) => {
  const variables = podsOf(await render(values)).flatMap(({ containers }) =>
    containers.flatMap(({ env = [] }: { env?: { name: string }[] }) => env.map(({ name }) => name)),
  );
  // The names of services are put together: SCRIP_<NAME>_URL, SCRIP_<NAME>_DATABASE_URL.
  const unknown = new Set(
    variables.filter((name: string) => name.startsWith("SCRIP_") && !sources.includes(name)),
  );
  const composed = new Set(
    PROCESSES.flatMap((name) =>
      ["URL", "DATABASE_URL"].map((of) => `SCRIP_${name.toUpperCase()}_${of}`),
    ),
  );
  expect([...unknown].filter((name) => !composed.has(name))).toEqual([]);
});

test("one job migrates each schema in the database of its process, before pods start", async () => {
  const jobs = ofKind(await render(INSTALLATIONS["all that is optional"] ?? {}), "Job");
  const [job] = jobs;
  expect(jobs).toHaveLength(1);
  expect(job?.metadata.annotations["helm.sh/hook"]).toBe("pre-install,pre-upgrade");
  expect(
    job?.spec.template.spec.containers[0].env.map(
      ({ name, valueFrom }: { name: string; valueFrom: { secretKeyRef: { name: string } } }) => [
        name,
        valueFrom.secretKeyRef.name,
      ],
    ),
  ).toEqual([
    ["DATABASE_URL", "scrip-database"],
    ["SCRIP_EVENTS_DATABASE_URL", "events"],
    ["SCRIP_VOUCHER_DATABASE_URL", "voucher-database"],
  ]);
});

test("protects processes with several replicas from simultaneous evictions, and no others", async () => {
  const budgets = ofKind(
    await render({ ...REQUIRED, export: { replicas: 1 } }),
    "PodDisruptionBudget",
  );
  expect(budgets.map(({ metadata }) => componentOf(metadata.labels)).toSorted()).toEqual(
    PROCESSES.filter((name) => name !== "export").toSorted(),
  );
});

test("merges the settings of a process over the defaults", async () => {
  const objects = await render(INSTALLATIONS["all that is optional"] ?? {});
  const scalers = ofKind(objects, "HorizontalPodAutoscaler");
  expect(
    Object.fromEntries(
      scalers.map(({ metadata, spec }) => [componentOf(metadata.labels), spec.maxReplicas]),
    ),
  ).toMatchObject({ voucher: 10, loyalty: 6 });
  for (const { spec } of ofKind(objects, "Deployment")) expect(spec).not.toHaveProperty("replicas");
});

test("hands the alerts and dashboards to Prometheus and Grafana unchanged", async () => {
  const objects = await render(INSTALLATIONS["all that is optional"] ?? {});
  const [rule] = ofKind(objects, "PrometheusRule");
  expect(rule.spec.groups[0].rules.map(({ alert }: { alert?: string }) => alert)).toContain(
    "ScripRedemptionErrorsFast",
  );
  const [monitor] = ofKind(objects, "ServiceMonitor");
  expect(monitor.spec).toEqual({
    jobLabel: "app.kubernetes.io/component",
    selector: {
      matchLabels: {
        "app.kubernetes.io/instance": "shop",
        "app.kubernetes.io/part-of": "scrip",
      },
    },
    endpoints: [{ port: "metrics", interval: "15s" }],
  });
  const [dashboards] = ofKind(objects, "ConfigMap");
  expect(Object.keys(dashboards.data)).toEqual(["api.json", "processes.json"]);
  for (const text of Object.values<string>(dashboards.data))
    expect(JSON.parse(text).panels).not.toEqual([]);
});
