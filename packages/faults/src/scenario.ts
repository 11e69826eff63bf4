import type { Load } from './load/load.ts';
import type { Target } from './load/operations.ts';
import type { System } from './system.ts';

export interface FaultContext {
  readonly system: System;
  readonly load: Load;
  /** How long the fault lasts, in seconds. */
  readonly seconds: number;
  /** Waits until the events of everything that was answered have arrived. */
  eventsArrived(): Promise<void>;
  /** Starts the measurement of a recovery. It also starts after `heal`. */
  markHealed(): void;
  /** Says that something was not as promised; it counts as a wrong answer. */
  fault(text: string): void;
  /** Adds a sentence to the row of the table. */
  remark(text: string): void;
}

export interface Scenario {
  /** The name for `--only`. */
  readonly name: string;
  /** What happens, as the table says it. */
  readonly title: string;
  /** How long it lasts unless `--seconds` says otherwise. */
  readonly seconds: number;
  readonly needsFileStore?: boolean;
  /** The codes of errors that are honest while it lasts. Every other error is a wrong answer. */
  readonly refusals: readonly string[];
  /** Whether it counts as wrong if a request gets no answer. */
  readonly answersAll?: boolean;
  /** Prepares it; no load is running. */
  setup?(system: System): Promise<void>;
  /** Where the load is sent instead of to the usual proxies, and by whom, after `setup`. */
  entry?(): Partial<Target>;
  /** Begins it, or lasts as long as it does if `isOver` is set. */
  inject(context: FaultContext): Promise<void>;
  readonly isOver?: boolean;
  /** Ends it. */
  heal(context: FaultContext): Promise<void>;
  /** Removes what `setup` has prepared, after everything has been verified. */
  teardown?(): Promise<void>;
}
