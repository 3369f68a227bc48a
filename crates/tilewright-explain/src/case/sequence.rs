//! Several launches on the same arrays.

use super::{Case, Link, argument::moved};

impl Case {
    /// The launches of this case, and behind them those of `next`. Each of `shared` is an array of `next`, by its place there, and the array of
    /// this case that it stands for; the others are added.
    #[must_use]
    pub fn followed_by(mut self, next: Self, shared: &[(usize, usize)]) -> Self {
        let mut places = Vec::with_capacity(next.arrays.len());
        for (place, array) in next.arrays.into_iter().enumerate() {
            match shared.iter().find(|&&(theirs, _)| theirs == place) {
                Some(&(_, ours)) => places.push(ours),
                None => {
                    places.push(self.arrays.len());
                    self.arrays.push(array);
                }
            }
        }
        for mut launch in next.launches {
            launch.arguments.iter_mut().for_each(|argument| *argument = moved(argument, &places));
            launch.textures.iter_mut().for_each(|texture| texture.array = places[texture.array]);
            launch.surfaces.iter_mut().for_each(|place| *place = places[*place]);
            launch.variables.iter_mut().for_each(|(_, place)| *place = places[*place]);
            self.launches.push(launch);
        }
        let moved = |link: Link| Link { array: places[link.array], target: places[link.target], ..link };
        self.links.extend(next.links.into_iter().map(moved));
        let is_new = |note: &String| !self.notes.contains(note);
        let notes: Vec<String> = next.notes.into_iter().filter(is_new).collect();
        self.notes.extend(notes);
        let is_new = |warning: &String| !self.compiler_warnings.contains(warning);
        let warnings: Vec<String> = next.compiler_warnings.into_iter().filter(is_new).collect();
        self.compiler_warnings.extend(warnings);
        self
    }
}
