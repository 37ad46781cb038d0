/** Refusals of bodies. */

import { type InputFault, Refusal } from '../../model/errors.ts'

export const notObject = invalid([{ path: '', message: 'must be an object' }])

export function invalid(faults: readonly InputFault[]): Refusal {
  return new Refusal('input_invalid', 'The body is not a valid request of AuthZEN.', { faults })
}
