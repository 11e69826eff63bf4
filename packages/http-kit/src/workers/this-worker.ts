import cluster from 'node:cluster';

/** The variable in which the primary process passes a worker its number. */
export const NUMBER_VARIABLE = 'WORKER_NUMBER';

/** The number of this process among the workers, from 1; undefined if it is not a worker. */
export const workerNumber: number | undefined = cluster.isWorker
  ? Number(process.env[NUMBER_VARIABLE])
  : undefined;
