import type { Scenario } from '../scenario.ts';

export const brokerScenarios: readonly Scenario[] = [
  {
    name: 'broker-gone',
    title: 'the broker is killed, and started again',
    seconds: 60,
    refusals: [],
    async inject({ system, load, eventsArrived }) {
      // The embedded broker forgets what it has accepted.
      await load.pause();
      await eventsArrived();
      await system.stack.broker.kill();
      load.resume();
    },
    async heal({ system }) {
      await system.stack.broker.start();
      await system.events.reconnect();
    },
  },
  {
    name: 'broker-frozen',
    title: 'the broker does not answer (SIGSTOP)',
    seconds: 60,
    refusals: [],
    inject: async ({ system }) => system.stack.broker.signal('SIGSTOP'),
    heal: async ({ system }) => system.stack.broker.signal('SIGCONT'),
  },
];
