class Reckon < Formula
  desc "Accountability for AI coding agents"
  homepage "@URL@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@URL@/reckon-@VERSION@-darwin-arm64", using: :nounzip
      sha256 "@DARWIN_ARM@"
    end
    on_intel do
      url "@URL@/reckon-@VERSION@-darwin-x64", using: :nounzip
      sha256 "@DARWIN_X@"
    end
  end

  on_linux do
    on_arm do
      url "@URL@/reckon-@VERSION@-linux-arm64", using: :nounzip
      sha256 "@LINUX_ARM@"
    end
    on_intel do
      url "@URL@/reckon-@VERSION@-linux-x64", using: :nounzip
      sha256 "@LINUX_X@"
    end
  end

  def install
    bin.install Dir["reckon-*"].first => "reckon"
    # macOS runs nothing unsigned on its own processors, and the signature that Node.js came with no longer fits.
    system "/usr/bin/codesign", "--force", "--sign", "-", bin/"reckon" if OS.mac?
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/reckon --version").strip
  end
end
