export { asAdmin } from "./admin.ts";
export { fakeClock, type FakeClock } from "./clock.ts";
export { emptyDatabase, type EmptyDatabase, testDatabase, type TestDatabase } from "./database.ts";
export { entriesRead, pagesRead } from "./entries-read.ts";
export { testRedis, type TestRedis } from "./redis.ts";
