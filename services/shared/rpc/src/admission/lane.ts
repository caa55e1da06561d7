import { ApiError } from "@scrip/errors";

import { PROJECT_BUSY, PROCESS_BUSY } from "./overload-errors.ts";
import { createThroughput, type Throughput } from "./throughput.ts";

/** Bounds of a lane in units of work. */
export type LaneLimits = {
  /** Work that runs concurrently. */
  readonly running: number;
  readonly runningPerProject: number;
  /** Requests that wait for their turn, or whose body is being read. */
  readonly waiting: number;
  readonly waitingPerProject: number;
  /** Requests that would start later than this, by the measured throughput, are rejected immediately. Default: none is. */
  readonly expectedWaitMs?: number;
  /** Requests that wait longer are rejected after all. */
  readonly maxWaitMs: number;
};

/** A project's share or the whole process is full, or a request waited too long. */
export type RejectionReason = "project" | "process" | "wait";

/**
 * Runs a bounded amount of work concurrently and queues a bounded amount: round-robin over projects, the
 * requests of one project keep their order.
 */
export type Lane = {
  /**
   * Enters the queue. Throws `too_many_requests` if the project's share of the queue is full, and `service_unavailable`
   * if the queue is full.
   */
  readonly enter: (project: string, work: number) => Place;
  /** The error that `enter` would throw now, which counts as a rejection; undefined when there is room. */
  readonly overloadError: (project: string, work: number) => ApiError | undefined;
  /** False while every request of `running` units or less finds room, whichever project sends it. */
  readonly mayReject: () => boolean;
  readonly running: () => number;
  readonly waiting: () => number;
};

export type Place = {
  /**
   * Runs as soon as there is room, and returns a promise only if the request has to wait for it. `work` replaces
   * the estimate; for a request that runs already it only changes what is counted.
   */
  readonly start: (work: number) => Promise<void> | undefined;
  /** Leaves the lane, also while the request still waits. Repeatable. */
  readonly leave: () => void;
};

type Project = { readonly name: string; running: number; waiting: number; readonly queue: Entry[] };

type Entry = {
  readonly project: Project;
  work: number;
  state: "entered" | "queued" | "running" | "left";
  queuedAt: number;
  resolve: () => void;
  reject: (error: ApiError) => void;
};

/** How often requests that wait too long are looked for. */
const SWEEP_MS = 100;

export function createLane(
  limits: LaneLimits,
  onReject: (reason: RejectionReason) => void,
  now = () => performance.now(),
): Lane {
  const queues = new Queues(limits, onReject, now);
  return {
    enter(project, work) {
      // Sums of whole numbers are exact: fractions would leave a remainder when everything has ended.
      const entry = queues.enter(project, Math.ceil(work));
      return {
        start: (exact) => queues.start(entry, Math.ceil(exact)),
        leave: () => queues.leave(entry),
      };
    },
    overloadError: (project, work) => queues.overloadError(project, Math.ceil(work)),
    mayReject: () => queues.mayReject(),
    running: () => queues.running,
    waiting: () => queues.waiting,
  };
}

class Queues {
  running = 0;
  waiting = 0;
  readonly #limits: LaneLimits;
  readonly #onReject: (reason: RejectionReason) => void;
  readonly #projects = new Map<string, Project>();
  /** Projects with queued requests; the first has its turn. */
  readonly #ready = new Set<Project>();
  #isSweeping = false;
  readonly #now: () => number;
  readonly #throughput: Throughput;

  constructor(limits: LaneLimits, onReject: (reason: RejectionReason) => void, now: () => number) {
    this.#limits = limits;
    this.#onReject = onReject;
    this.#now = now;
    this.#throughput = createThroughput(now);
  }

  enter(name: string, work: number): Entry {
    const rejection = this.overloadError(name, work);
    if (rejection !== undefined) throw rejection;
    const project = this.#projects.get(name) ?? { name, running: 0, waiting: 0, queue: [] };
    this.#projects.set(name, project);
    this.#count(project, "waiting", work);
    return { project, work, state: "entered", queuedAt: 0, resolve: nothing, reject: nothing };
  }

  overloadError(name: string, work: number): ApiError | undefined {
    const { waiting, waitingPerProject } = this.#limits;
    const own = this.#projects.get(name)?.waiting ?? 0;
    if (own > 0 && own + work > this.#inTime(waitingPerProject)) return this.#rejection("project");
    if (this.waiting > 0 && this.waiting + work > this.#inTime(waiting)) {
      return this.#rejection("process");
    }
    return undefined;
  }

  mayReject(): boolean {
    const { running, waitingPerProject } = this.#limits;
    return this.waiting > 0 && this.waiting + running > this.#inTime(waitingPerProject);
  }

  start(entry: Entry, work: number): Promise<void> | undefined {
    const { project, state } = entry;
    if (state !== "entered" && state !== "running") return undefined;
    this.#count(project, state === "entered" ? "waiting" : "running", work - entry.work);
    entry.work = work;
    if (state === "running") return undefined;
    if (this.#ready.size > 0 || !this.#fits(work) || !this.#fitsProject(project, work)) {
      return this.#enqueue(entry);
    }
    this.#run(entry);
    return undefined;
  }

  leave(entry: Entry): void {
    const { project, state, work } = entry;
    if (state === "left") return;
    entry.state = "left";
    if (state === "running" && this.#ready.size > 0) this.#throughput.add(work);
    this.#count(project, state === "running" ? "running" : "waiting", -work);
    if (state === "queued") {
      project.queue.splice(project.queue.indexOf(entry), 1);
      if (project.queue.length === 0) this.#ready.delete(project);
      entry.reject(new ApiError("deadline_exceeded", { details: "The caller has left" }));
    }
    if (project.running + project.waiting === 0) this.#projects.delete(project.name);
    this.#runQueued();
    if (this.#ready.size === 0) this.#throughput.stop();
  }

  #enqueue(entry: Entry): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    Object.assign(entry, { state: "queued", queuedAt: this.#now(), resolve, reject });
    entry.project.queue.push(entry);
    if (this.#ready.size === 0) this.#throughput.start();
    this.#ready.add(entry.project);
    if (!this.#isSweeping) this.#sweepLater();
    this.#runQueued();
    return promise;
  }

  #runQueued(): void {
    let skipped = 0;
    while (skipped < this.#ready.size) {
      const [project] = this.#ready as Iterable<Project> as readonly [Project];
      const entry = project.queue[0] as Entry;
      // Smaller requests do not overtake: a large one would never find room.
      if (!this.#fits(entry.work)) return;
      this.#ready.delete(project);
      if (this.#fitsProject(project, entry.work)) {
        project.queue.shift();
        this.#run(entry);
        entry.resolve();
        skipped = 0;
      } else skipped += 1;
      if (project.queue.length > 0) this.#ready.add(project);
    }
  }

  #run(entry: Entry): void {
    entry.state = "running";
    this.#count(entry.project, "waiting", -entry.work);
    this.#count(entry.project, "running", entry.work);
  }

  #sweep(): void {
    const oldest = this.#now() - this.#limits.maxWaitMs;
    const late = [...this.#ready].flatMap(({ queue }) =>
      queue.filter(({ queuedAt }) => queuedAt < oldest),
    );
    for (const entry of late) {
      entry.reject(this.#rejection("wait", entry.project));
      this.leave(entry);
    }
    this.#isSweeping = false;
    if (this.#ready.size > 0) this.#sweepLater();
  }

  #sweepLater(): void {
    this.#isSweeping = true;
    setTimeout(() => this.#sweep(), SWEEP_MS).unref();
  }

  #count(project: Project, kind: "running" | "waiting", work: number): void {
    project[kind] += work;
    this[kind] += work;
  }

  /**
   * The part of a bound on waiting work that can start in time. As much as may run may always wait, because the
   * throughput of an outage says nothing about the time after it.
   */
  #inTime(bound: number): number {
    const { running, waiting, expectedWaitMs } = this.#limits;
    if (expectedWaitMs === undefined) return bound;
    const expected = this.#throughput.rate() * expectedWaitMs * (bound / waiting);
    return Math.min(bound, Math.max(running, expected));
  }

  /** Work above a bound runs alone. */
  #fits(work: number): boolean {
    return this.running === 0 || this.running + work <= this.#limits.running;
  }

  #fitsProject({ running }: Project, work: number): boolean {
    return running === 0 || running + work <= this.#limits.runningPerProject;
  }

  #rejection(reason: RejectionReason, waiting?: Project): ApiError {
    this.#onReject(reason);
    // If only this project uses the lane, it waited for its own requests, so the rejection is `too_many_requests`.
    const isOwn = reason === "project" || waiting?.running === this.running;
    return isOwn ? PROJECT_BUSY : PROCESS_BUSY;
  }
}

const nothing = (): void => {};
