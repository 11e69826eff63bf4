import {
  described,
  int,
  matching,
  named,
  type Out,
  optional,
  partial,
  shape,
} from '@tessera/fields';
import { validationFailed } from '@tessera/http-kit';

/** The services that run for each tenant (decision I14). */
export const services = ['api', 'worker', 'scheduler', 'websocket'] as const;
export type Service = (typeof services)[number];

const cpu = (example: string) =>
  described(
    matching(/^([1-9][0-9]{0,5}m|[0-9]{1,3}(\.[0-9]{1,3})?)$/, 'cores, such as 250m or 1.5', 10),
    'CPU cores in Kubernetes notation',
    example,
  );
const memory = (example: string) =>
  described(
    matching(/^[1-9][0-9]{0,5}(Mi|Gi)$/, 'an amount of memory, such as 512Mi or 2Gi', 10),
    'Memory in Kubernetes notation',
    example,
  );

/** The scaling configuration of one service. */
export const ServiceScaling = named(
  'ServiceScaling',
  shape({
    min_replicas: int(0, 100),
    max_replicas: described(int(1, 100), 'At least `min_replicas`', 10),
    cpu_request: cpu('250m'),
    cpu_limit: cpu('1'),
    memory_request: memory('256Mi'),
    memory_limit: memory('1Gi'),
    target_cpu_percent: int(1, 100),
  }),
);

const of = <T>(value: T) => ({ api: value, worker: value, scheduler: value, websocket: value });

export const ScalingConfig = named('ScalingConfig', shape(of(ServiceScaling)));
export type Scaling = Out<typeof ScalingConfig>;

const change = optional(named('ServiceScalingChange', partial(ServiceScaling)));
export const ScalingChange = named('ScalingChange', shape(of(change)));
type Change = Out<typeof ScalingChange>;

type Size = 'small' | 'medium' | 'large';

const sizes = {
  small: { cpu_request: '100m', cpu_limit: '500m', memory_request: '128Mi', memory_limit: '512Mi' },
  medium: { cpu_request: '250m', cpu_limit: '1', memory_request: '256Mi', memory_limit: '1Gi' },
  large: { cpu_request: '500m', cpu_limit: '2', memory_request: '512Mi', memory_limit: '2Gi' },
} as const satisfies Record<Size, object>;

const scaled = (size: Size, most: number): Scaling => {
  const replicas = (min_replicas: number, max_replicas: number) => ({
    min_replicas,
    max_replicas,
    ...sizes[size],
    target_cpu_percent: 70,
  });
  return {
    api: replicas(size === 'small' ? 1 : 2, most),
    worker: replicas(1, most),
    // A second scheduler would run every job twice.
    scheduler: replicas(1, 1),
    websocket: replicas(1, most),
  };
};

/** The default configuration of each plan. */
export const plans = {
  starter: scaled('small', 2),
  business: scaled('medium', 6),
  enterprise: scaled('large', 20),
} as const;

export type Plan = keyof typeof plans;
export const planNames = Object.keys(plans) as [Plan, ...Plan[]];

/** The defaults of a plan; unknown plans get those of the smallest. */
export const planScaling = (plan: string): Scaling =>
  Object.hasOwn(plans, plan) ? plans[plan as Plan] : plans.starter;

const millicores = (value: string): number =>
  value.endsWith('m') ? Number.parseInt(value, 10) : Number(value) * 1000;
const mebibytes = (value: string): number =>
  Number.parseInt(value, 10) * (value.endsWith('Gi') ? 1024 : 1);

/** The configuration after applying changes; 422 naming the fields that are inconsistent. */
export const changedScaling = (before: Scaling, changes: Change): Scaling => {
  const after = { ...before };
  const errors: Record<string, string[]> = {};
  for (const service of services) {
    const whole = { ...before[service], ...changes[service] };
    const demand = (
      isValid: boolean,
      field: keyof typeof whole,
      other: keyof typeof whole,
    ): void => {
      if (!isValid) errors[`${service}.${field}`] = [`${field} must not be less than ${other}`];
    };
    demand(whole.max_replicas >= whole.min_replicas, 'max_replicas', 'min_replicas');
    demand(
      millicores(whole.cpu_limit) >= millicores(whole.cpu_request),
      'cpu_limit',
      'cpu_request',
    );
    demand(
      mebibytes(whole.memory_limit) >= mebibytes(whole.memory_request),
      'memory_limit',
      'memory_request',
    );
    after[service] = whole;
  }
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
  return after;
};
