// Places of mistakes in a document, found off the main loop: the text is parsed for it.
import { type Place, placesIn } from '../../../domain/catalog/documentPlaces.js'

export function documentPlaces(input: { text: string; pointers: readonly string[] }): { places: (Place | null)[] } {
  return { places: placesIn(input.text, input.pointers) }
}
