export { type ClamdAddress, clamdAddress, clamdUrl } from './address.ts';
export { type Clamd, type ClamdOptions, createClamd, type Verdict } from './clamd.ts';
