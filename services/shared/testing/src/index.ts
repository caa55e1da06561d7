export { asAdmin } from "./admin.ts";
export { fakeClock, type FakeClock } from "./clock.ts";
export { emptyDatabase, testDatabase, type TestDatabase } from "./database.ts";
export type { EmptyDatabase } from "./empty-database.ts";
export { entriesRead, pagesRead } from "./entries-read.ts";
export { testKafka, type TestKafka } from "./kafka.ts";
export { startTcpProxy, type TcpProxy } from "./tcp-proxy.ts";
export { testRedis, type TestRedis } from "./redis.ts";
