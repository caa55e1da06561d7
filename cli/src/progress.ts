import cliProgress from "cli-progress";

const { Format, Presets, SingleBar } = cliProgress;

/** Shows how far long work is. */
export type Progress = Disposable & {
  /** Without a total, only the number is shown. */
  update(done: number, total?: number): void;
};

export type StartProgress = (label: string) => Progress;

/** Draws a bar on a terminal. */
export const drawProgress =
  (stream: NodeJS.WritableStream): StartProgress =>
  (label) => {
    const bar = new SingleBar(
      {
        stream,
        // Its handler would swallow the first Ctrl-C.
        gracefulExit: false,
        format: (options, { progress, value, total, eta }) =>
          total === 0
            ? `${label}  ${value}`
            : `${label}  ${Format.BarFormat(progress, options)}  ${value}/${total}  ${Format.TimeFormat(eta, options, 5)} left`,
      },
      Presets.rect,
    );
    bar.start(0, 0);
    return {
      update: (done, total = 0) => {
        bar.setTotal(total);
        bar.update(done);
      },
      [Symbol.dispose]: () => {
        // The last update may not have been drawn yet.
        bar.render();
        bar.stop();
      },
    };
  };

/** For output that is not a terminal. */
export const noProgress: StartProgress = () => ({ update: () => {}, [Symbol.dispose]: () => {} });
