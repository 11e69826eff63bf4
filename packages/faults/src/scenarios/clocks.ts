import type { Application } from '@tessera/local-stack';
import type { Scenario } from '../scenario.ts';

let moved: readonly { readonly service: 'identity' | 'crm'; readonly replica: Application }[] = [];

export const clocks: Scenario = {
  name: 'clocks',
  title: 'the clocks of the replicas are 60 s apart',
  seconds: 20,
  refusals: [],
  async setup({ stack }) {
    const late = { CLOCK_OFFSET_MS: '-60000' };
    moved = [
      { service: 'identity', replica: await stack.addReplica('identity', late) },
      { service: 'crm', replica: await stack.addReplica('crm', late) },
    ];
  },
  async inject({ system, remark }) {
    for (const { service, replica } of moved) system.balancers[service].add(replica);
    await system.ready();
    remark('a third replica of each service, whose clock is 60 s slow');
  },
  async heal({ system }) {
    for (const { service, replica } of moved) system.balancers[service].remove(replica);
    await Promise.all(moved.map(({ replica }) => replica.stop()));
  },
};
