import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { connect } from "node:tls";

import { create } from "@bufbuild/protobuf";
import { toErrorResponse } from "@scrip/errors";
import { VoucherSchema, VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { createMetrics } from "@scrip/telemetry";
import { generate } from "selfsigned";
import { expect, onTestFinished, test } from "vitest";

import { gatewayTokens, serveVouchers } from "../../test/voucher-server.ts";
import { serviceCall } from "../call/call.ts";
import { clientOf } from "../call/client.ts";
import type { RpcServer } from "../server/serve.ts";
import { createCallees } from "../transport/callees.ts";
import { createServiceTransport } from "../transport/grpc-transport.ts";
import { generateServiceKey } from "./service-token.ts";
import { followTls, readTlsFiles, type Tls } from "./tls.ts";

const keys = await generateServiceKey();
const QUIET = { info() {}, warn() {} };

type Authority = { readonly cert: string; readonly key: string };
type Certificates = Authority & { readonly ca: string };

const TEN_YEARS = new Date(Date.now() + 10 * 365 * 24 * 3_600_000);
const OPTIONS = { keyType: "ec", algorithm: "sha256", notAfterDate: TEN_YEARS } as const;

const [own, foreign] = [await newAuthority("own"), await newAuthority("foreign")];

test("processes with certificates of the authority call each other", async () => {
  const certificates = await certificateOf(own, "localhost");
  using tls = follow(await filesOf(certificates));
  const { server, calls } = await startVouchers(tls);
  expect(await readAs(tls, server)).toBe("served");
  expect(calls()).toBe(1);
});

test("callers without a certificate, and with one of another authority, are rejected before their call", async () => {
  using tls = follow(await filesOf(await certificateOf(own, "localhost")));
  const { server, calls } = await startVouchers(tls);
  const stranger = await certificateOf(foreign, "localhost");
  // They trust the server, and their service token is valid.
  const callers = [{ ca: own.cert }, { ...stranger, ca: own.cert }];
  for (const certificates of callers) {
    using transport = createServiceTransport({
      baseUrl: urlOf(server),
      audience: "voucher",
      token,
      tls: { servername: "localhost", ...certificates },
    });
    expect(await read(transport)).not.toBe("served");
  }
  expect(calls()).toBe(0);
  expect(await readAs(tls, server)).toBe("served");
});

test("a server of another authority, or with another name, gets no call", async () => {
  using caller = follow(await filesOf(await certificateOf(own, "localhost")));
  for (const certificates of [
    { ...(await certificateOf(foreign, "localhost")), ca: own.cert },
    await certificateOf(own, "elsewhere.example"),
  ]) {
    using tls = follow(await filesOf(certificates));
    const { server, calls } = await startVouchers(tls);
    expect(await readAs(caller, server)).not.toBe("served");
    expect(calls()).toBe(0);
  }
});

test("renewed files are used for new connections, and unreadable ones are not", async () => {
  const warnings: string[] = [];
  const files = await filesOf(await certificateOf(own, "localhost"));
  using tls = follow(files, { info() {}, warn: (_, message) => void warnings.push(message) });
  const { server } = await startVouchers(tls);
  // As in a process without a server.
  using callerOnly = follow(files);
  const before = tls.current();
  const other = await certificateOf(own, "localhost");
  for (const key of ["-----BEGIN nothing", other.key]) {
    const seen = warnings.length;
    await writeFile(files.key, key);
    await expect.poll(() => warnings.length).toBeGreaterThan(seen + 1);
    expect([tls.current(), callerOnly.current()]).toEqual([before, before]);
    expect(await readAs(tls, server)).toBe("served");
  }

  // Of a new authority, which replaces the one before.
  const renewed = await certificateOf(foreign, "localhost");
  await Promise.all([
    writeFile(files.cert, renewed.cert),
    writeFile(files.key, renewed.key),
    writeFile(files.ca, renewed.ca),
  ]);
  await expect.poll(() => tls.current()).toEqual(renewed);
  await expect.poll(() => callerOnly.current()).toEqual(renewed);
  expect(await readAs(tls, server)).toBe("served");
  expect(await issuerOf(server, renewed)).toBe("foreign");
  using late = follow(await filesOf(await certificateOf(own, "localhost")));
  expect(await readAs(late, server)).not.toBe("served");
});

test("the files must be set together and contain certificates", async () => {
  const files = await filesOf(await certificateOf(own, "localhost"));
  const env = {
    SCRIP_TLS_CERT_FILE: files.cert,
    SCRIP_TLS_KEY_FILE: files.key,
    SCRIP_TLS_CA_FILE: files.ca,
  };
  expect(readTlsFiles({})).toBeUndefined();
  expect(readTlsFiles(env)).toEqual(files);
  expect(() => readTlsFiles({ ...env, SCRIP_TLS_CA_FILE: "" })).toThrow("SCRIP_TLS_CA_FILE");
  await writeFile(files.cert, "nothing");
  expect(() => readTlsFiles({ ...env, SCRIP_TLS_KEY_FILE: "/nowhere" })).toThrow(
    /SCRIP_TLS_CERT_FILE must be a PEM file\nSCRIP_TLS_KEY_FILE .*ENOENT/,
  );
});

async function newAuthority(name: string): Promise<Authority> {
  const { cert, private: key } = await generate([{ name: "commonName", value: name }], {
    ...OPTIONS,
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "keyUsage", keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return { cert, key };
}

/** For both sides of a connection, as each process has one. */
async function certificateOf(authority: Authority, host: string): Promise<Certificates> {
  const { cert, private: key } = await generate([{ name: "commonName", value: host }], {
    ...OPTIONS,
    ca: authority,
    extensions: [
      { name: "keyUsage", digitalSignature: true, critical: true },
      { name: "extKeyUsage", serverAuth: true, clientAuth: true },
      { name: "subjectAltName", altNames: [{ type: 2, value: host }] },
    ],
  });
  return { cert, key, ca: authority.cert };
}

async function filesOf(certificates: Certificates): Promise<Certificates> {
  const folder = await mkdtemp(path.join(tmpdir(), "scrip-tls-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const names = ["cert", "key", "ca"] as const;
  for (const name of names) await writeFile(path.join(folder, name), certificates[name]);
  const [cert, key, ca] = names.map((name) => path.join(folder, name)) as [string, string, string];
  return { cert, key, ca };
}

const follow = (files: Certificates, logger: Parameters<typeof followTls>[1] = QUIET): Tls =>
  followTls(files, logger);

async function startVouchers(tls: Tls) {
  let calls = 0;
  const getVoucher = async () => {
    calls += 1;
    return create(VoucherSchema);
  };
  const server = await serveVouchers({ host: "localhost", keys, handlers: { getVoucher }, tls });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { server, calls: () => calls };
}

const urlOf = ({ port }: RpcServer): string => `https://localhost:${port}`;

const token = gatewayTokens(keys);

type Transport = ReturnType<typeof createServiceTransport>;

/** The outcome of a call: `served` or the key of its error. */
const read = (transport: Transport): Promise<string> =>
  clientOf(VoucherService, transport)
    .getVoucher({ code: "A" }, serviceCall())
    .then(
      () => "served",
      (error: unknown) => toErrorResponse(error, "").error.key,
    );

/** Calls as the processes of an installation do. */
async function readAs(tls: Tls, server: RpcServer): Promise<string> {
  const metrics = createMetrics({ withProcess: false });
  const connectTo = createCallees({ caller: "gateway", keys, tls, logger: QUIET, metrics });
  using transport = connectTo("voucher", [urlOf(server)]);
  return await read(transport);
}

/** The authority of the certificate that a new connection shows. */
async function issuerOf({ port }: RpcServer, certificates: Certificates): Promise<unknown> {
  const socket = connect({ port, host: "localhost", servername: "localhost", ...certificates });
  await once(socket, "secureConnect");
  const { issuer } = socket.getPeerCertificate();
  socket.destroy();
  return issuer.CN;
}
