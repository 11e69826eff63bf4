import { Gauge, type GaugeConfiguration, type Registry } from 'prom-client';
import type { Read } from './read-sometimes.ts';

/** Registers a gauge that is read for each scrape, and absent while it cannot be read; `set` sets its values. */
export const registerReadGauge = <T, Label extends string = never>(
  registry: Registry,
  configuration: Pick<GaugeConfiguration<Label>, 'name' | 'help' | 'labelNames'>,
  read: Read<T>,
  set: (gauge: Gauge<Label>, value: T) => void,
): void => {
  const gauge: Gauge<Label> = new Gauge({
    ...configuration,
    registers: [registry],
    async collect() {
      const value = await read();
      // Without labels, `reset` would set 0.
      if (configuration.labelNames) gauge.reset();
      else gauge.remove();
      if (value !== undefined) set(gauge, value);
    },
  });
};
