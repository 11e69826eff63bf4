export { type RunningClamd, startClamd } from './clamd-process.ts';
export { eicar } from './eicar.ts';
export { type ClamdStandIn, startClamdStandIn } from './stand-in.ts';
