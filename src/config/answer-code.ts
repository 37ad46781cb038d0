/** The answers that a test of access may expect. */

import { errors } from '../model/errors.ts'
import { didYouMean, InvalidValue, type ValueParser } from './invalid-value.ts'

const CODES = ['allow', ...Object.keys(errors)]

/** `allow`, or the code of a refusal. */
export const answerCode: ValueParser<string> = (text) =>
  CODES.includes(text)
    ? text
    : new InvalidValue(`is not allow or the code of a refusal${didYouMean(text, CODES)}`)
