/**
 * The harmless test file of EICAR, which every scanner reports. It is assembled here so that scanners do not report
 * this source file.
 */
export const eicar: Buffer = Buffer.from(
  ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE', '!$H+H*'].join(''),
);
