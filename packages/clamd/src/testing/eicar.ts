/**
 * The test file of EICAR, which every scanner reports and which does nothing. It is put together here, so that scanners
 * do not report this source.
 */
export const eicar: Buffer = Buffer.from(
  ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE', '!$H+H*'].join(''),
);
