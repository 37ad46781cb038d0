/** Uploads that wait for an upload slot of the pool: each free slot is given away, in order. */

import { once } from 'node:events'
import { Readable } from 'node:stream'
import t from 'tap'
import { RequestPool } from '../../../src/http/client/request-pool.ts'
import type { RequestOwner, ResponseReceiver } from '../../../src/http/client/upstream-request.ts'
import { serve } from '../../proxy/support.ts'
import { until } from '../../support/until.ts'
import { poolSettings } from './pool-settings.ts'

/** A request whose body arrives as the test says. */
class Upload extends Readable implements ResponseReceiver {
  readonly owner: RequestOwner = ['acme', 'alice']
  complete = false
  begun = false

  constructor(pool: RequestPool) {
    super()
    const framing = { headers: [], host: null, length: Infinity }
    pool.dispatch({ method: 'POST', path: '/', ...framing, body: this }, this)
  }

  override _read(): void {}

  arrive(): void {
    this.complete = true
    this.push(null)
  }

  connected(): boolean {
    this.begun = true
    return true
  }
  requestProgress(): void {}
  responseStarted(): void {}
  head(): void {}
  data(): void {}
  ended(): void {
    this.emit('answered')
  }
  failed(): void {}
}

t.test('a slot that a complete body does not take goes to the next upload', async (t) => {
  const port = await serve(t, (request, response) => void request.resume().on('end', () => response.end()))
  const pool = new RequestPool({ ...poolSettings(port), uploads: 1 })
  t.teardown(() => pool.destroy())
  const upload = () => new Upload(pool)
  const [first, whole, second, third] = [upload(), upload(), upload(), upload()]
  await until(() => first.begun, 'the first upload')
  whole.arrive()
  const answered = once(whole, 'answered')
  first.arrive()
  await answered
  await until(() => second.begun, 'the upload behind the complete body')
  const late = new Upload(pool)
  t.equal(third.begun, false)
  second.arrive()
  await until(() => third.begun, 'the next upload')
  t.equal(late.begun, false, 'a later upload waits behind the others')
  third.arrive()
  await until(() => late.begun, 'the last upload')
})
