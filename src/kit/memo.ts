/**
 * One value per owner, made at first use and gone with the owner. Rooms keep what belongs to one running instance
 * (prepared statements, a loaded key, an index) this way, so two instances in one process never share it.
 */
export function perOwner<Owner extends object, Value>(make: (owner: Owner) => Value): (owner: Owner) => Value {
  const made = new WeakMap<Owner, Value>();
  return (owner) => {
    let value = made.get(owner);
    if (value === undefined) {
      value = make(owner);
      made.set(owner, value);
    }
    return value;
  };
}
