/**
 * The image is built by the Dockerfile that users build, and does what the manual says. It takes a minute of computing and more for
 * downloads, so that only `npm run release:check` and the nightly tests run it.
 */

import t from 'tap'
import { THOROUGH } from '../support/thorough.ts'
import { checkImage } from './image.ts'
import { step } from './step.ts'

const skip = !THOROUGH && 'it takes minutes: run npm run release:check, or node test/release/image.ts'

t.test('the image', { skip }, async (t) => {
  const { result, detail } = await step('image', () => checkImage())
  t.equal(result, 'ok', detail, result === 'not run' ? { skip: detail } : {})
})
