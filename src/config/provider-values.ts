/** Values of the settings of an identity provider. */

import { InvalidValue, type ValueParser } from './invalid-value.ts'

export const INSECURE = 'uses http:// on a host that is not a loopback address: use https://'

export const nonEmpty: ValueParser<string> = (text) =>
  text !== '' && !/[\x00-\x1f\x7f]/.test(text)
    ? text
    : new InvalidValue('is empty or has a control character')

/**
 * @returns null for other schemes, for a user name or password, and for white space, which URL parsing would
 *   remove
 */
export function httpUrl(text: string): URL | null {
  const url = URL.parse(text)
  if (url === null || /\s/.test(text) || !/^https?:$/.test(url.protocol)) return null
  return url.username === '' && url.password === '' ? url : null
}
